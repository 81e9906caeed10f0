"""Batch normalization: what it refuses, and choices the recorded contract does not cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


def test_the_fused_operation_serves_both_layouts_alike() -> None:
    image = tf.constant(np.random.default_rng(0).normal(size=[3, 4, 4, 2]), tf.float32)
    last = layers.batch_normalization(image, training=True)
    first = layers.batch_normalization(tf.transpose(image, [0, 3, 1, 2]), axis=1, training=True)
    assert last.op.type == first.op.type == "FusedBatchNormV3"
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        one, other = session.run([last, first])
    np.testing.assert_allclose(one, other.transpose(0, 2, 3, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", [{"fused": False}, {"axis": 2}, {"renorm": True}, {"virtual_batch_size": 2}])
def test_the_fused_operation_is_used_only_where_it_exists(options: dict[str, Any]) -> None:
    layer = layers.BatchNormalization(**options)
    layer(tf.ones([4, 3, 3, 2]))
    assert layer.fused is False


def test_training_may_be_a_whole_number_tensor() -> None:
    training = v1.placeholder(tf.int32, [])
    output = layers.batch_normalization(tf.constant([[1.0], [3.0]]), training=training)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(output, {training: 0})[0, 0] > 0 > session.run(output, {training: 1})[0, 0]


def test_training_must_be_a_truth() -> None:
    with pytest.raises(WrongType, match=r"training must be True, False or a scalar tensor, got 'no' .*ModeKeys\.TRAIN"):
        layers.batch_normalization(tf.ones([2, 3]), training="no")


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        (
            [None, None],
            {},
            r"the size of axis \[1\] of its inputs must be known.*got shape \(None, None\).*ensure_shape",
        ),
        (None, {}, r"the rank of its inputs must be known, got shape <unknown>.*ensure_shape"),
        (
            [None, 3],
            {"axis": 7},
            r"axis must name different axes of an input of 2 dimensions, got \[7\]\. Pass axis=-1",
        ),
        ([None, 3], {"axis": [1, -1]}, r"axis must name different axes"),
        ([None, 3], {"axis": "x"}, r"axis must be a whole number or a list of them, got 'x'"),
        ([None, 3], {"renorm_clipping": {"foo": 1}}, r"renorm_clipping takes rmax, rmin and dmax; got foo\. Rename"),
        ([None, 3], {"virtual_batch_size": 2, "adjustment": len}, r"cannot be used together\. Pass one of them"),
    ],
)
def test_settings_that_make_no_sense(shape: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, WrongType), match=message):
        layers.batch_normalization(v1.placeholder(tf.float32, shape), **options)


def test_replicas_keep_averages_of_their_own() -> None:
    layer = layers.BatchNormalization()
    layer(tf.ones([2, 3]))
    assert layer.moving_mean.synchronization == tf.VariableSynchronization.ON_READ
    assert layer.moving_mean.aggregation == tf.compat.v1.VariableAggregation.MEAN
    assert layer.gamma.synchronization == tf.VariableSynchronization.AUTO
