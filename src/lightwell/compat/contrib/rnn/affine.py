"""The affine map that cells of `tf.contrib.rnn` make in their step: variables `kernel` and `bias` of the open scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


def affine(
    inputs: Any,
    size: int,
    *,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = None,
) -> Any:
    """`inputs @ kernel + bias`; several inputs are joined side by side first.

    Args:
        inputs: a tensor `[batch, depth]`, or several.
        size: width of the result.
        use_bias: whether there is a `bias`.
        kernel_initializer: the scope's if None.
        bias_initializer: zeros if None.
    """
    parts: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    joined = parts[0] if len(parts) == 1 else tf.concat(parts, 1)
    kernel = _v1.get_variable("kernel", [joined.shape[-1], size], joined.dtype, kernel_initializer)
    product = tf.matmul(joined, kernel)
    if not use_bias:
        return product
    zeros = _v1.zeros_initializer()
    bias = _v1.get_variable("bias", [size], joined.dtype, zeros if bias_initializer is None else bias_initializer)
    return tf.nn.bias_add(product, bias)


def normalized(values: Any, name: str, *, gain: float = 1.0, shift: float = 0.0) -> Any:
    """Each row with mean 0 and variance 1, times `<name>/gamma`, plus `<name>/beta`."""
    width = [values.shape[-1]]
    with _v1.variable_scope(name):
        gamma = _v1.get_variable("gamma", width, values.dtype, _v1.constant_initializer(gain))
        beta = _v1.get_variable("beta", width, values.dtype, _v1.constant_initializer(shift))
    mean, variance = tf.nn.moments(values, [1], keepdims=True)
    return tf.nn.batch_normalization(values, mean, variance, beta, gamma, 1e-12)
