"""Optimizers from an automatic search: steps by signs of gradients and their means (Bello et al., 2017)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf


class _BySign(tf.compat.v1.train.Optimizer):
    """A step of the gradient, scaled by whether it points where its mean does."""

    def __init__(
        self,
        learning_rate: Any,
        beta: float,
        sign_decay_fn: Callable[[Any], Any] | None,
        use_locking: bool,
        name: str,
    ) -> None:
        super().__init__(use_locking, name)
        self._rate = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn
        self._decay: Any = 1.0

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """As `Optimizer.apply_gradients`; how much signs count may hang on the step."""
        if self._sign_decay_fn is not None:
            step = tf.compat.v1.train.get_or_create_global_step()
            self._decay = self._sign_decay_fn(step)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: Any) -> None:
        for one in var_list:
            self._zeros_slot(one, "m", self._name)

    def _scale(self, agreement: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        mean = self.get_slot(var, "m")
        new_mean = self._beta * mean + (1 - self._beta) * grad
        agreement = tf.cast(self._decay, grad.dtype) * tf.sign(grad) * tf.sign(new_mean)
        step = tf.cast(self._rate, grad.dtype) * self._scale(agreement) * grad
        return tf.group(mean.assign(new_mean).op, var.assign_sub(step).op)

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        mean = self.get_slot(var, "m")
        new_mean = self._beta * tf.gather(mean, indices) + (1 - self._beta) * grad
        agreement = tf.cast(self._decay, grad.dtype) * tf.sign(grad) * tf.sign(new_mean)
        step = tf.cast(self._rate, grad.dtype) * self._scale(agreement) * grad
        return tf.group(
            mean.scatter_update(tf.IndexedSlices(new_mean, indices)).op,
            var.scatter_sub(tf.IndexedSlices(step, indices)).op,
        )

    # Of a reference variable: those of a program that calls `disable_v2_behavior()`, or wants no resources.
    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_sparse(grad.values, var, grad.indices)


class AddSignOptimizer(_BySign):
    """Steps of `(alpha + sign(g) sign(m)) g`.

    Args:
        learning_rate: size of a step.
        alpha: added to the agreement of signs.
        beta: decay of the mean of gradients.
        sign_decay_fn: from the global step to how much signs count.
        use_locking: without effect.
        name: of the slots.
    """

    def __init__(
        self,
        learning_rate: Any = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _scale(self, agreement: Any) -> Any:
        return self._alpha + agreement


class PowerSignOptimizer(_BySign):
    """Steps of `base ** (sign(g) sign(m)) g`; arguments as those of `AddSignOptimizer`, with `base` for `alpha`."""

    def __init__(
        self,
        learning_rate: Any = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: Callable[[Any], Any] | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._log_base = math.log(base)

    def _scale(self, agreement: Any) -> Any:
        return tf.exp(self._log_base * agreement)
