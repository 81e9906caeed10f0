"""Making variables: errors that name the layer, its variable and the way out."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError

v1 = tf.compat.v1


def dense(units: int = 2, **options: object) -> object:
    return layers.dense(tf.ones([2, 3]), units, **options)


def test_a_name_twice() -> None:
    dense(name="foo")
    with pytest.raises(
        UsageError, match=r"layer 'foo', variable 'kernel' of shape \(3, 2\): Variable foo/kernel already"
    ):
        dense(name="foo")
    with pytest.raises(UsageError, match=r"Give this layer another name=, or pass reuse=True"):
        dense(name="foo")


def test_a_shared_name_of_another_shape() -> None:
    dense(name="foo")
    with pytest.raises(UsageError, match=r"shape \(3, 5\) and found shape \(3, 2\)\. A shared layer needs"):
        dense(5, name="foo", reuse=True)


def test_a_shared_name_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match=r"does not exist.*Build the layer once without reuse first, or pass reuse="):
        dense(name="bar", reuse=True)


def test_an_initial_value_of_another_shape() -> None:
    with pytest.raises((UsageError, TypeError), match="shape"):
        dense(kernel_initializer=tf.ones([5, 5]))


def test_a_regularizer_counts_only_for_a_new_variable() -> None:
    for _ in range(3):
        dense(name="foo", kernel_regularizer="l2", reuse=v1.AUTO_REUSE)
    assert len(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)) == 1
