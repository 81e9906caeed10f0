"""`tf.contrib.layers.layer_norm`: its numbers by its formula in NumPy, its variables by their names in 1.15."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell import tf1

v1 = tf.compat.v1
X = np.random.RandomState(0).normal(3, 2, [4, 3, 5]).astype(np.float32)


def run(**arguments: Any) -> tuple[Any, dict[str, Any]]:
    with tf.Graph().as_default(), v1.Session() as session:
        out = tf1.contrib.layers.layer_norm(tf.constant(X), **arguments)
        made = {variable.op.name: variable.shape.as_list() for variable in v1.trainable_variables()}
        session.run(v1.global_variables_initializer())
        return session.run(out), made


@pytest.mark.parametrize(("arguments", "axes"), [({}, (1, 2)), ({"begin_norm_axis": -1}, (2,))])
def test_numbers(arguments: dict[str, Any], axes: tuple[int, ...]) -> None:
    out, made = run(**arguments)
    mean, variance = X.mean(axes, keepdims=True), X.var(axes, keepdims=True)
    np.testing.assert_allclose(out, (X - mean) / np.sqrt(variance + 1e-12), rtol=1e-4, atol=1e-5)
    assert made == {"LayerNorm/beta": [5], "LayerNorm/gamma": [5]}


def test_parameters_of_several_axes_and_an_activation() -> None:
    out, made = run(begin_params_axis=1, scope="norm", center=False, activation_fn=tf.nn.relu)
    assert made == {"norm/gamma": [3, 5]}
    assert out.min() == 0


def test_scopes_are_numbered_and_reused() -> None:
    with tf.Graph().as_default():
        for _ in range(2):
            tf1.contrib.layers.layer_norm(tf.constant(X))
        tf1.contrib.layers.layer_norm(tf.constant(X), scope="LayerNorm", reuse=True)
        names = [variable.op.name for variable in v1.global_variables()]
    assert names == ["LayerNorm/beta", "LayerNorm/gamma", "LayerNorm_1/beta", "LayerNorm_1/gamma"]


def test_collections() -> None:
    with tf.Graph().as_default():
        out = tf1.contrib.layers.layer_norm(
            tf.constant(X), variables_collections=["mine"], outputs_collections="outs", trainable=False
        )
        assert v1.get_collection("outs") == [out]
        assert [one.op.name for one in v1.get_collection("mine")] == ["LayerNorm/beta", "LayerNorm/gamma"]
        assert v1.trainable_variables() == []
        assert len(v1.global_variables()) == 2


def test_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="has undefined rank"):
            tf1.contrib.layers.layer_norm(v1.placeholder(tf.float32))
        with pytest.raises(ValueError, match=r"begin_params_axis \(-1\) and begin_norm_axis \(7\) must be < rank"):
            tf1.contrib.layers.layer_norm(tf.constant(X), begin_norm_axis=7)
        with pytest.raises(ValueError, match=r"shape\(inputs\)\[-1:\] is not fully defined"):
            tf1.contrib.layers.layer_norm(v1.placeholder(tf.float32, [3, None]))


def test_it_has_a_path(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        with v1.variable_scope("encoder"):
            out = tf1.contrib.layers.layer_norm(tf.stack([features["x"], 2 * features["x"]], axis=1))
        loss = tf.reduce_mean(out)
        step = v1.train.get_global_step()
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return lw.EstimatorSpec(mode, {"out": out}, loss, train_op)

    estimator = tiny.trained(tmp_path, model_fn=model_fn)
    row = next(estimator.predict(tiny.once, taps=["layers/encoder/LayerNorm"]))
    np.testing.assert_array_equal(row["layers/encoder/LayerNorm"], row["out"])
    assert estimator.layers["encoder/LayerNorm"].gamma.shape == (2,)
