"""Managers of the loss scale: fixed, or grown while gradients are finite and shrunk when they are not."""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

_v1 = tf.compat.v1


class LossScaleManager(abc.ABC):
    """What a `LossScaleOptimizer` asks for the scale."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale, a scalar float32 tensor or variable."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Any) -> Any:
        """An op that takes note of a step. `finite_grads` is a scalar boolean tensor: all gradients are finite."""


class FixedLossScaleManager(LossScaleManager):
    """A scale that does not change.

    Args:
        loss_scale: at least 1.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError(f"FixedLossScaleManager: loss scale must be at least 1, got {loss_scale!r}.")
        self._loss_scale = tf.convert_to_tensor(loss_scale, dtype=tf.float32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        return tf.no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after steps with finite gradients, and shrinks after steps without.

    Args:
        init_loss_scale: the first scale.
        incr_every_n_steps: so many finite steps in a row make it grow.
        decr_every_n_nan_or_inf: so many other steps since its last change, in a row or not, make it shrink.
        incr_ratio: it grows by this factor, unless that is not finite.
        decr_ratio: it shrinks by this factor, to 1 at least.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._loss_scale = _state(init_loss_scale, "loss_scale", tf.float32)
        self._good_steps = _state(0, "good_steps", tf.int32)
        self._bad_steps = _state(0, "bad_steps", tf.int32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Any) -> Any:
        scale, good, bad = (one.read_value() for one in (self._loss_scale, self._good_steps, self._bad_steps))
        good = tf.where(finite_grads, good + 1, 0)
        bad = tf.where(finite_grads, bad, bad + 1)
        grows, shrinks = good >= self._incr_every_n_steps, bad >= self._decr_every_n_nan_or_inf
        grows, shrinks = tf.logical_and(finite_grads, grows), tf.logical_and(tf.logical_not(finite_grads), shrinks)
        larger = scale * self._incr_ratio
        larger = tf.where(tf.math.is_finite(larger), larger, scale)
        smaller = tf.maximum(1.0, scale * self._decr_ratio)
        changes = tf.logical_or(grows, shrinks)
        with tf.control_dependencies([larger, smaller, good, bad]):
            return tf.group(
                self._loss_scale.assign(tf.where(grows, larger, tf.where(shrinks, smaller, scale))),
                self._good_steps.assign(tf.where(changes, 0, good)),
                self._bad_steps.assign(tf.where(changes, 0, bad)),
            )


def _state(first: float, name: str, dtype: Any) -> Any:
    return _v1.Variable(first, name=name, dtype=dtype, trainable=False)
