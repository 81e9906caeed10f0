"""Dense: what it refuses, and inputs the recorded contract does not cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (None, r"Dense: units must be a whole number, got None of type NoneType\. Pass a Python int: units=32"),
        (-1, r"Dense: units must be at least 0, got -1\. Pass a larger number"),
        ("many", r"Dense: units must be a whole number, got 'many' of type str"),
    ],
)
def test_units_must_be_a_number(units: Any, message: str) -> None:
    with pytest.raises((UsageError, WrongType), match=message):
        layers.dense(tf.ones([2, 3]), units)


@pytest.mark.parametrize("shape", [None, [None, None]])
def test_the_last_dimension_must_be_known(shape: Any) -> None:
    with pytest.raises(
        UsageError, match=r"Dense layer 'dense_1': the last dimension .* must be known.*tf\.ensure_shape"
    ):
        layers.dense(v1.placeholder(tf.float32, shape), 2)
    with pytest.raises(UsageError, match=r"Dense layer 'dense_2': the last dimension"):
        layers.Dense(2).compute_output_shape([None, None])


def test_one_dimension_is_too_few() -> None:
    with pytest.raises(
        UsageError, match=r"layer 'dense_1': input 0 needs at least 2 dimensions; got shape \(3,\).*Reshape"
    ):
        layers.dense(tf.ones([3]), 2)


def test_whole_numbers_must_be_converted() -> None:
    with pytest.raises(
        WrongType, match=r"Dense layer 'dense_1': .* floating-point dtype, got int32\. Convert them first"
    ):
        layers.dense(tf.ones([2, 3], tf.int32), 2)


def test_later_inputs_are_cast_to_the_layers_dtype() -> None:
    layer = layers.Dense(2)
    layer(tf.ones([2, 3]))
    assert layer(tf.ones([2, 3], tf.int32)).dtype == tf.float32
    with pytest.raises(UsageError, match=r"size 3 on axis -1; got shape \(2, 4\)"):
        layer(tf.ones([2, 4]))


def test_sparse_inputs() -> None:
    sparse = tf.sparse.from_dense([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    output = layers.dense(sparse, 2, kernel_initializer=np.arange(6.0).reshape(3, 2), bias_initializer="ones")
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        assert session.run(output).tolist() == [[9.0, 12.0], [1.0, 1.0]]


def test_one_input_only() -> None:
    with pytest.raises(
        UsageError, match=r"layer 'dense_1': expected 1 input tensor\(s\), got 2: .*tf\.concat or tf\.stack"
    ):
        layers.dense([tf.ones([2, 3]), tf.ones([2, 3])], 2)
