"""Transposed convolutions: the adjoint of convolutions."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from lightwell import layers
from lightwell.errors import UsageError

v1 = tf.compat.v1


def test_a_transposed_convolution_is_the_gradient_of_a_convolution() -> None:
    small = tf.constant(np.random.default_rng(0).normal(size=[1, 3, 3, 2]), tf.float32)
    large = layers.conv2d_transpose(small, 4, 3, strides=2, use_bias=False)
    probe = tf.ones(large.shape)
    forward = tf.nn.conv2d(probe, large.kernel, [1, 2, 2, 1], "VALID")
    (gradient,) = tf.gradients(forward, probe, small)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        one, other = session.run([large, gradient])
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_both_layouts_give_the_same_numbers() -> None:
    image = tf.constant(np.random.default_rng(0).normal(size=[2, 3, 3, 2]), tf.float32)
    last = layers.conv2d_transpose(image, 4, 3, 2, name="t")
    first = layers.conv2d_transpose(
        tf.transpose(image, [0, 3, 1, 2]), 4, 3, 2, data_format="channels_first", name="t", reuse=True
    )
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        one, other = session.run([last, first])
    np.testing.assert_allclose(one, other.transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-5)
    assert first.layer.compute_output_shape([2, 2, 3, 3]) == first.shape


def test_the_number_of_channels_must_be_known() -> None:
    with pytest.raises(UsageError, match=r"Conv2DTranspose layer 'conv2d_transpose_1': the number of channels"):
        layers.conv2d_transpose(v1.placeholder(tf.float32, [None, 4, 4, None]), 2, 2)
