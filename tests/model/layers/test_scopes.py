"""Scopes and sharing beyond the recorded contract: replicas, and TensorFlow 1 variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError
from lightwell.model.layers.scopes import unpartitioned

v1 = tf.compat.v1


def test_mirrored_replicas_share_weights_and_average_statistics(graph: Any) -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])

    def step() -> Any:
        hidden = layers.dense(tf.constant([[1.0], [3.0]]), 2, kernel_initializer="ones", kernel_regularizer="l1")
        return layers.batch_normalization(hidden, training=True, momentum=0.5)

    with strategy.scope():
        output = strategy.run(step)
        assert [variable.name for variable in v1.trainable_variables()][:2] == ["dense/kernel:0", "dense/bias:0"]
        assert output.gamma.name == "batch_normalization/gamma:0"
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
            np.testing.assert_allclose(session.run(output.moving_mean), [1.0, 1.0])
    assert len(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)) == 1


def test_reference_variables_work() -> None:
    with v1.variable_scope("old", use_resource=False):
        output = layers.batch_normalization(tf.constant([[1.0], [3.0]]), training=True, momentum=0.5)
    assert v1.get_collection(v1.GraphKeys.UPDATE_OPS)[0].name == "old/batch_normalization/AssignMovingAvg"
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        session.run(v1.get_collection(v1.GraphKeys.UPDATE_OPS))
        np.testing.assert_allclose(session.run([output.moving_mean, output.moving_variance]), [[1.0], [1.0]])


def test_a_partitioner_is_back_after_a_failure() -> None:
    with v1.variable_scope("p", partitioner=len) as scope:
        with pytest.raises(ZeroDivisionError), unpartitioned():
            _ = 1 / (scope.partitioner is not None)
        assert scope.partitioner is len


def test_a_bad_scope_name_is_tensorflows_error() -> None:
    with pytest.raises(ValueError, match=r"is not a valid (root )?scope name"):
        layers.dense(tf.ones([2, 3]), 2, name="bad name")


def test_sharing_what_is_not_there() -> None:
    with pytest.raises(
        UsageError, match=r"layer 'foo', variable 'kernel' of shape \(3, 2\): Variable foo/kernel does not"
    ):
        layers.dense(tf.ones([2, 3]), 2, name="foo", reuse=True)
