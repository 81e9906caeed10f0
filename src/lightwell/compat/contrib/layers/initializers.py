"""Initializers of `tf.contrib.layers`: random numbers whose size follows from the shape of a variable."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import WrongType

# A normal distribution that is cut at two deviations has a smaller variance than the whole one.
_CUT = 1.3


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = tf.float32) -> Callable[..., Any]:
    """Keeps the size of gradients about the same in all layers (Glorot and Bengio, 2010)."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = tf.float32,
) -> Callable[..., Any]:
    """Random numbers of variance `factor / n`.

    Args:
        factor: 2.0 suits layers with ReLU.
        mode: what n is: `FAN_IN` the number of inputs, `FAN_OUT` that of outputs, `FAN_AVG` their mean.
        uniform: uniform numbers, in place of normal ones cut at two deviations.
        seed: for the numbers.
        dtype: their type, if the variable says none.

    Raises:
        WrongType: there is no such mode, or the type is not a floating one.
    """
    if not tf.as_dtype(dtype).is_floating:
        raise WrongType(f"variance_scaling_initializer: Cannot create initializer for non-floating point type {dtype}.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise WrongType(
            f"variance_scaling_initializer: Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]. Give one of these three."
        )

    def initializer(shape: Sequence[int], dtype: Any = dtype, partition_info: Any = None) -> Any:
        if not tf.as_dtype(dtype).is_floating:
            raise WrongType(f"variance_scaling_initializer: Cannot create initializer for non-floating type {dtype}.")
        whole = partition_info.full_shape if partition_info is not None else shape
        fan_in, fan_out = _fans([int(size) for size in whole])
        amount = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / amount)
            return tf.compat.v1.random_uniform(shape, -limit, limit, dtype, seed=seed)
        deviation = math.sqrt(_CUT * factor / amount)
        return tf.compat.v1.truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return initializer


def _fans(shape: list[int]) -> tuple[float, float]:
    """How many inputs a number of the result has, and how many results an input."""
    window = math.prod(shape[:-2])
    fan_in = shape[-2] if len(shape) > 1 else shape[-1] if shape else 1
    fan_out = shape[-1] if shape else 1
    return float(fan_in * window), float(fan_out * window)
