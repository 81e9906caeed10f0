"""`Adagrad`: each weight at a rate that falls with the gradients it has seen."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.estimator.canned.optimizers.base import Rule


class Adagrad(Rule):
    """Adagrad, as Keras 2 computed it.

    Args:
        learning_rate: see `Rule`.
        initial_accumulator_value: what the sum of squared gradients starts with.
        epsilon: added to its root.
        decay: see `Rule`.
        name: the scope of the state.
    """

    slot_names = ("accumulator",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        decay: float = 0.0,
        name: str = "Adagrad",
    ) -> None:
        super().__init__(name, learning_rate, {}, decay)
        self._start, self._epsilon = initial_accumulator_value, epsilon

    def start_of(self, slot: str) -> float:
        """The value that a slot starts with."""
        return self._start

    def dense(self, variable: Any, gradient: Any) -> Any:
        """The op that updates a variable."""
        return tf.raw_ops.ResourceApplyAdagradV2(grad=gradient, **self._inputs(variable))

    def sparse(self, variable: Any, gradient: Any, indices: Any) -> Any:
        """The op that updates rows of a variable."""
        return tf.raw_ops.ResourceSparseApplyAdagradV2(grad=gradient, indices=indices, **self._inputs(variable))

    def _inputs(self, variable: Any) -> dict[str, Any]:
        return {
            "var": variable.handle,
            "accum": self.slot(variable, "accumulator").handle,
            "lr": self.rate(variable),
            "epsilon": tf.constant(self._epsilon, variable.dtype.base_dtype),
        }
