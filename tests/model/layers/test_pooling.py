"""Pooling: what it refuses, and both layouts against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError

v1 = tf.compat.v1


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["max", "average"])
def test_both_layouts_give_the_same_numbers(kind: str, rank: int, padding: str) -> None:
    pool = getattr(layers, f"{kind}_pooling{rank}d")
    values = tf.constant(np.random.default_rng(0).normal(size=[2, *[5] * rank, 3]), tf.float32)
    swapped = tf.transpose(values, [0, rank + 1, *range(1, rank + 1)])
    last = pool(values, 2, 2, padding)
    first = pool(swapped, 2, 2, padding, "channels_first")
    with v1.Session() as session:
        one, other = session.run([last, first])
    np.testing.assert_allclose(one, np.moveaxis(other, 1, -1), rtol=1e-5)
    assert first.layer.compute_output_shape(swapped.shape) == first.shape


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool_size": (2, 2, 2)}, r"MaxPooling2D: pool_size must be one number or 2 of them, got \(2, 2, 2\)"),
        ({"pool_size": 0}, r"MaxPooling2D: pool_size must be at least 1, got 0"),
        ({"strides": None}, r"MaxPooling2D: strides must be given, got None\. Pass strides=pool_size"),
        ({"padding": "x"}, r"MaxPooling2D: padding must be one of 'valid', 'same'; got 'x'"),
        ({"data_format": "NHWC"}, r"MaxPooling2D: data_format .*; got 'NHWC'\. Write data_format='channels_last'"),
        ({"pool_size": 8}, r"its window of \(8, 8\) is larger than the input, .* \[4, 4\]\. Use a smaller pool_size"),
    ],
)
def test_settings_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        layers.max_pooling2d(tf.ones([1, 4, 4, 2]), **{"pool_size": 2, "strides": 2, **options})


def test_the_rank_must_fit() -> None:
    with pytest.raises(
        UsageError, match=r"layer 'max_pooling1d_1': input 0 needs 3 dimensions; got shape \(1, 4, 4, 2\)"
    ):
        layers.max_pooling1d(tf.ones([1, 4, 4, 2]), 2, 2)
