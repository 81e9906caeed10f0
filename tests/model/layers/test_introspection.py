"""What a layer answers about its calls."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError

v1 = tf.compat.v1


def test_one_call_has_one_input_and_output(graph: Any) -> None:
    x = v1.placeholder(tf.float32, [None, 3])
    layer = layers.Dense(2)
    output = layer(x)
    assert layer.input is x
    assert layer.output is output
    assert (layer.input_shape, layer.output_shape) == ((None, 3), (None, 2))
    assert layer.graph is graph


def test_several_calls_are_asked_for_by_number() -> None:
    layer = layers.Dense(2)
    first, second = layer(tf.ones([4, 3])), layer(tf.ones([5, 3]))
    assert [layer.get_output_at(0), layer.get_output_at(1)] == [first, second]
    assert layer.get_input_at(1).shape == layer.get_input_shape_at(1) == (5, 3)
    assert layer.get_output_shape_at(1) == (5, 2)
    with pytest.raises(AttributeError, match=r"layer 'dense_1': it was called 2 times.*Use get_output_at\(index\)"):
        _ = layer.output
    with pytest.raises(
        AttributeError, match=r"its calls have different shapes, \[\(4, 3\), \(5, 3\)\]\. Use get_input_shape_at"
    ):
        _ = layer.input_shape
    with pytest.raises(
        UsageError, match=r"there is no call number 2; it was called 2 time\(s\)\. Calls are counted from 0"
    ):
        layer.get_output_at(2)


def test_no_call_has_no_answer() -> None:
    layer = layers.Dense(2)
    assert layer.graph is None
    assert not hasattr(layer, "output")
    with pytest.raises(AttributeError, match=r"layer 'dense_1': it has no input, as it was never called\. Call it"):
        _ = layer.input
    with pytest.raises(AttributeError, match=r"it has no output_shape, as it was never called"):
        _ = layer.output_shape


def test_unknown_ranks_are_no_shape() -> None:
    layer = layers.Layer()
    layer(v1.placeholder(tf.float32))
    assert layer.input_shape is None


def test_losses_of_weights_and_of_calls_are_told_apart() -> None:
    layer = layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")
    x = tf.ones([4, 3])
    layer(x)
    weight, activity = layer.losses
    assert layer.get_losses_for(None) == [weight]
    assert layer.get_losses_for(x) == [activity]
    assert v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES) == [weight, activity]


def test_a_regularizer_may_decline() -> None:
    layers.dense(tf.ones([4, 3]), 2, kernel_regularizer=lambda weight: None)
    assert v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES) == []
