"""Regularizers of `tf.contrib.layers`: functions from a variable to a loss; None where it is always zero."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

Regularizer = Callable[[Any], Any]


def l1_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """`scale` times the sum of absolute values."""
    _check(scale, "l1_regularizer")
    if scale == 0.0:
        return lambda _: None

    def l1(weights: Any, name: str | None = None) -> Any:
        with tf.compat.v1.name_scope(scope, "l1_regularizer", [weights]) as opened:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, tf.reduce_sum(tf.abs(weights)), name=opened)

    return l1


def l2_regularizer(scale: float, scope: str | None = None) -> Regularizer:
    """`scale` times half the sum of squares, as `tf.nn.l2_loss`."""
    _check(scale, "l2_regularizer")
    if scale == 0.0:
        return lambda _: None

    def l2(weights: Any) -> Any:
        with tf.compat.v1.name_scope(scope, "l2_regularizer", [weights]) as opened:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, tf.nn.l2_loss(weights), name=opened)

    return l2


def l1_l2_regularizer(scale_l1: float = 1.0, scale_l2: float = 1.0, scope: str | None = None) -> Regularizer:
    """Both in one."""
    _check(scale_l1, "l1_l2_regularizer")
    _check(scale_l2, "l1_l2_regularizer")
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope or "l1_l2_regularizer")


def sum_regularizer(regularizer_list: Iterable[Regularizer | None], scope: str | None = None) -> Any:
    """The sum of several regularizers; None if there are none."""
    regularizers = [one for one in regularizer_list if one is not None]
    if not regularizers:
        return None

    def total(weights: Any) -> Any:
        with tf.compat.v1.name_scope(scope, "sum_regularizer", [weights]) as opened:
            losses = [loss for loss in (one(weights) for one in regularizers) if loss is not None]
            return tf.add_n(losses, name=opened) if losses else None

    return total


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """The sum of the losses of several variables; it goes to `GraphKeys.REGULARIZATION_LOSSES`.

    Args:
        regularizer: a function from a variable to a loss.
        weights_list: the variables; those of `GraphKeys.WEIGHTS` if None.

    Raises:
        UsageError: there are no variables, or a loss is no number.
    """
    v1 = tf.compat.v1
    weights = list(weights_list or v1.get_collection(v1.GraphKeys.WEIGHTS))
    if not weights:
        raise UsageError("apply_regularization: No weights to regularize. Give weights_list.")
    with v1.name_scope("get_regularization_penalty", values=weights) as opened:
        losses = [loss if loss is not None else tf.constant(0.0) for loss in (regularizer(one) for one in weights)]
        if any(loss.shape.rank != 0 for loss in losses):
            raise UsageError(f"apply_regularization: regularizer must return a scalar Tensor; it returned {losses}.")
        total = tf.add_n(losses, name=opened)
        v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, total)
        return total


def _check(scale: Any, name: str) -> None:
    if isinstance(scale, numbers.Integral):
        raise UsageError(f"{name}: scale cannot be an integer: {scale}. Write it with a point: {scale}.0.")
    if isinstance(scale, numbers.Real) and float(scale) < 0.0:
        raise UsageError(f"{name}: Setting a scale less than 0 on a regularizer: {scale}.")
