"""Resource variables have the method of TensorFlow 1 that they lack, and a release without their class says so."""

from __future__ import annotations

import pytest
import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops

from lightwell.foreign import private_variables

v1 = tf.compat.v1


def test_initialized_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        resource_variable_ops.BaseResourceVariable,
        "initialized_value",
        resource_variable_ops.variables.Variable.initialized_value,
    )
    with tf.Graph().as_default(), v1.Session() as session:
        first = v1.get_variable("first", initializer=tf.random.normal([3], seed=1), use_resource=True)
        with pytest.raises(NotImplementedError):
            first.initialized_value()
        private_variables.restore_initialized_value()
        copied = v1.Variable(first.initialized_value() * 2.0, use_resource=True)
        session.run(v1.global_variables_initializer())
        one, two = session.run([first, copied])
        assert two == pytest.approx(2 * one)
        session.run(first.assign([1.0, 2.0, 3.0]))
        assert session.run(first.initialized_value()).tolist() == [1.0, 2.0, 3.0]


def test_a_release_without_the_class(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.delattr(resource_variable_ops, "BaseResourceVariable")
    private_variables.restore_initialized_value()
    assert "has no tensorflow.python.ops.resource_variable_ops.BaseResourceVariable" in caplog.text
    assert "Variables have no initialized_value()" in caplog.text
