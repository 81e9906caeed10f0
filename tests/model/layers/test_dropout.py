"""Dropout: what it refuses, and rates and masks the recorded contract does not cover."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


def test_a_rate_may_be_a_tensor_and_a_noise_shape_too() -> None:
    rate = v1.placeholder(tf.float32, [])
    output = layers.dropout(tf.ones([50, 4]), rate, noise_shape=tf.constant([50, 1]), training=True, seed=1)
    with v1.Session() as session:
        measured = session.run(output, {rate: 0.5})
        assert set(np.unique(measured)) == {0.0, 2.0}
        assert np.all(measured == measured[:, :1])
        assert np.all(session.run(output, {rate: 0.0}) == 1.0)


def test_constants_decide_while_the_graph_is_built() -> None:
    assert layers.dropout(tf.ones([2, 3]), training=tf.constant(True)).op.type == "SelectV2"
    assert layers.dropout(tf.ones([2, 3]), training=0).op.type == "Identity"
    assert layers.dropout(tf.ones([2, 3]), training=None).op.type == "Identity"


@pytest.mark.parametrize("rate", [1.5, -1])
def test_a_rate_outside_its_range(rate: float) -> None:
    with pytest.raises(
        UsageError, match=rf"Dropout: rate must be between 0 and 1, got {rate}\. It is the share to drop"
    ):
        layers.dropout(tf.ones([2, 3]), rate)


def test_dropping_everything() -> None:
    with pytest.raises(
        UsageError, match=r"Dropout layer 'dropout_1': rate=1 would drop everything\. Pass a rate below 1"
    ):
        layers.dropout(tf.ones([2, 3]), 1.0, training=True)


def test_training_must_be_a_truth() -> None:
    with pytest.raises(
        WrongType, match=r"layer 'dropout_1': training must be True, False or a scalar tensor, got 'train'"
    ):
        layers.dropout(tf.ones([2, 3]), training="train")
