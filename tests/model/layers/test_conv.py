"""Convolutions: what they refuse, and inputs the recorded contract does not cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError, WrongType

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filters": 0}, r"Conv2D: filters must be at least 1, got 0\. Pass a larger number"),
        ({"filters": None}, r"Conv2D: filters must be a whole number, got None of type NoneType\. Pass a Python int"),
        ({"kernel_size": (2, 2, 2)}, r"Conv2D: kernel_size must be one number or 2 of them, got \(2, 2, 2\)\. Write"),
        ({"kernel_size": "a"}, r"Conv2D: kernel_size must be a whole number, got 'a'"),
        ({"strides": 0}, r"Conv2D: strides must be at least 1, got 0"),
        ({"padding": "foo"}, r"Conv2D: padding must be one of 'valid', 'same'; got 'foo'\. Write padding='valid'"),
        ({"padding": "causal"}, r"padding must be one of 'valid', 'same'; got 'causal'"),
        ({"data_format": "NCHW"}, r"got 'NCHW'\. Write data_format='channels_first', which is the same layout"),
        ({"data_format": "last"}, r"data_format must be one of 'channels_last', 'channels_first'; got 'last'"),
        (
            {"strides": 2, "dilation_rate": 2},
            r"strides \(2, 2\) and dilation_rate \(2, 2\) cannot both be above 1\. Set",
        ),
        ({"kernel_size": 5}, r"its window covers 5 places, but the input has only 4 .* Use a smaller kernel_size"),
        ({"dilation_rate": 4}, r"its window covers 5 places"),
    ],
)
def test_settings_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, WrongType), match=message):
        layers.conv2d(tf.ones([1, 4, 4, 2]), **{"filters": 2, "kernel_size": 2, **options})


@pytest.mark.parametrize("shape", [[None, 4, 4, None], None])
def test_the_number_of_channels_must_be_known(shape: Any) -> None:
    with pytest.raises(UsageError, match=r"Conv2D layer 'conv2d_1': the number of channels \(axis -1\) .*ensure_shape"):
        layers.conv2d(v1.placeholder(tf.float32, shape), 2, 2)


def test_the_rank_must_fit() -> None:
    with pytest.raises(
        UsageError, match=r"layer 'conv2d_1': input 0 needs at least 4 dimensions; got shape \(1, 4, 2\)"
    ):
        layers.conv2d(tf.ones([1, 4, 2]), 2, 2)


def test_whole_numbers_are_no_pictures() -> None:
    with pytest.raises(
        WrongType, match=r"Conv2D layer 'conv2d_1': expected floating-point inputs, got uint8\. Convert"
    ):
        layers.conv2d(tf.zeros([1, 4, 4, 2], tf.uint8), 2, 2)


def test_later_inputs_need_the_same_channels() -> None:
    layer = layers.Conv2D(2, 2)
    layer(tf.ones([1, 4, 4, 2]))
    with pytest.raises(UsageError, match=r"size 2 on axis -1; got shape \(1, 4, 4, 3\)"):
        layer(tf.ones([1, 4, 4, 3]))


def test_extra_batch_axes_are_kept() -> None:
    layer = layers.Conv2D(3, 2)
    outputs = layer(tf.reshape(tf.range(2 * 3 * 4 * 4 * 2, dtype=tf.float32), [2, 3, 4, 4, 2]))
    assert outputs.shape == [2, 3, 3, 3, 3] == layer.compute_output_shape([2, 3, 4, 4, 2])


@pytest.mark.parametrize("name", ["conv2d", "separable_conv2d"])
def test_both_layouts_give_the_same_numbers(name: str) -> None:
    image = tf.constant(np.random.default_rng(0).normal(size=[2, 5, 5, 3]), tf.float32)
    last = getattr(layers, name)(image, 4, 3, name="c")
    first = getattr(layers, name)(
        tf.transpose(image, [0, 3, 1, 2]), 4, 3, data_format="channels_first", name="c", reuse=True
    )
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        one, other = session.run([last, first])
    np.testing.assert_allclose(one, other.transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-5)
