"""Flatten: what it refuses, and shapes the recorded contract does not cover."""

from __future__ import annotations

import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError

v1 = tf.compat.v1


def test_a_shape_that_only_the_run_knows() -> None:
    anything = v1.placeholder(tf.float32)
    output = layers.flatten(anything)
    assert output.shape.as_list() == [None, None]
    with v1.Session() as session:
        assert session.run(output, {anything: [[[1.0], [2.0]], [[3.0], [4.0]]]}).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_an_empty_batch() -> None:
    rows = v1.placeholder(tf.float32, [None, None, 3])
    with v1.Session() as session:
        assert session.run(layers.flatten(v1.placeholder_with_default(tf.ones([0, 2, 3]), [None, 2, 3]))).shape == (
            0,
            6,
        )
    assert layers.Flatten().compute_output_shape(rows.shape).as_list() == [None, None]


def test_a_scalar_has_no_batch() -> None:
    with pytest.raises(UsageError, match=r"layer 'flatten_1': input 0 needs at least 1 dimensions; got shape \(\)"):
        layers.flatten(tf.constant(3.0))


def test_an_unknown_layout() -> None:
    with pytest.raises(UsageError, match=r"Flatten: data_format must be one of .*; got 'x'\. Write data_format="):
        layers.flatten(tf.ones([2, 3]), data_format="x")
