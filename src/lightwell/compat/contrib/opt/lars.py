"""Momentum with a rate for each layer (You et al., 2017, arXiv 1708.03888)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError


class LARSOptimizer(tf.compat.v1.train.Optimizer):
    """Layer-wise adaptive rate scaling.

    Args:
        learning_rate: size of a step.
        momentum: share of the step before.
        weight_decay: how much a weight pulls towards 0.
        eeta: the trust in a layer's own rate.
        epsilon: keeps a division finite.
        name: of the slots.
        skip_list: parts of names of variables that get plain momentum: no decay, no rate of their own.
        use_nesterov: whether momentum looks ahead.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        if momentum < 0.0:
            raise UsageError(f"LARSOptimizer: momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise UsageError(f"LARSOptimizer: weight_decay should be positive: {weight_decay}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Any) -> None:
        for one in var_list:
            self._zeros_slot(one, "momentum", self._name)

    def compute_lr(self, grad: Any, var: Any) -> tuple[Any, Any]:
        """The rate of a variable, and its gradient with the decay."""
        rate = self._learning_rate() if callable(self._learning_rate) else self._learning_rate
        rate = tf.cast(rate, var.dtype.base_dtype)
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return rate, grad
        of_weights, of_gradient = tf.norm(var), tf.norm(grad)
        below = of_gradient + self._weight_decay * of_weights + self._epsilon
        trust = tf.where((of_weights > 0) & (of_gradient > 0), self._eeta * of_weights / below, 1.0)
        return rate * trust, grad + self._weight_decay * var

    def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
        rate, gradient = self.compute_lr(grad, var)
        return tf.raw_ops.ResourceApplyMomentum(
            var=var.handle,
            accum=self.get_slot(var, "momentum").handle,
            # The slot stores the step itself, at its learning rate.
            lr=tf.cast(1.0, var.dtype.base_dtype),
            grad=rate * gradient,
            momentum=tf.cast(self._momentum, var.dtype.base_dtype),
            use_locking=False,
            use_nesterov=self._use_nesterov,
        )

    def _resource_apply_sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        # Rows of a table are moved by plain momentum, as in 1.15.
        return tf.raw_ops.ResourceSparseApplyMomentum(
            var=var.handle, accum=self.get_slot(var, "momentum").handle, indices=indices, **self._plain(grad, var)
        )

    # Of a reference variable: those of a program that calls `disable_v2_behavior()`, or wants no resources.
    def _apply_dense(self, grad: Any, var: Any) -> Any:
        rate, gradient = self.compute_lr(grad, var)
        settings = self._plain(rate * gradient, var) | {"lr": tf.cast(1.0, var.dtype.base_dtype)}
        return tf.raw_ops.ApplyMomentum(var=var, accum=self.get_slot(var, "momentum"), **settings).op

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        settings = self._plain(grad.values, var)
        slot = self.get_slot(var, "momentum")
        return tf.raw_ops.SparseApplyMomentum(var=var, accum=slot, indices=grad.indices, **settings).op

    def _plain(self, grad: Any, var: Any) -> dict[str, Any]:
        rate = self._learning_rate() if callable(self._learning_rate) else self._learning_rate
        return {
            "lr": tf.cast(rate, var.dtype.base_dtype),
            "grad": grad,
            "momentum": tf.cast(self._momentum, var.dtype.base_dtype),
            "use_locking": False,
            "use_nesterov": self._use_nesterov,
        }
