"""Separable convolutions: equal to the two convolutions they stand for."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError

v1 = tf.compat.v1


def test_a_separable_convolution_is_two_convolutions() -> None:
    image = tf.constant(np.random.default_rng(0).normal(size=[1, 5, 5, 2]), tf.float32)
    whole = layers.separable_conv2d(image, 3, 2, depth_multiplier=2, use_bias=False)
    halves = tf.nn.conv2d(
        tf.nn.depthwise_conv2d(image, whole.depthwise_kernel, [1, 1, 1, 1], "VALID"),
        whole.pointwise_kernel,
        [1, 1, 1, 1],
        "VALID",
    )
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        one, other = session.run([whole, halves])
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_causal_convolution_looks_only_back() -> None:
    signal = v1.placeholder(tf.float32, [1, 6, 1])
    output = layers.separable_conv1d(signal, 1, 3, padding="causal")
    impulse = np.eye(6, dtype=np.float32)[3].reshape(1, 6, 1)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        measured = session.run(output, {signal: impulse})[0, :, 0]
    assert np.all(measured[:3] == 0)
    assert np.all(measured[3:] != 0)


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match=r"SeparableConv2D: depth_multiplier must be at least 1, got 0"):
        layers.separable_conv2d(tf.ones([1, 4, 4, 2]), 3, 2, depth_multiplier=0)
    with pytest.raises(UsageError, match=r"SeparableConv2D layer 'separable_conv2d_2': the number of channels"):
        layers.separable_conv2d(v1.placeholder(tf.float32, [None, 4, 4, None]), 3, 2)
