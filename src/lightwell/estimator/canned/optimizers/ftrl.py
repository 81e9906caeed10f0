"""`Ftrl`: follow the regularized leader, the optimizer of linear models."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.estimator.canned.optimizers.base import Rule


class Ftrl(Rule):
    """Ftrl, as Keras 2 computed it.

    Args:
        learning_rate: see `Rule`.
        learning_rate_power: how the rate falls with the gradients a weight has seen; at most 0.
        initial_accumulator_value: what the sum of squared gradients starts with.
        l1_regularization_strength: makes weights zero.
        l2_regularization_strength: makes weights small.
        l2_shrinkage_regularization_strength: an l2 penalty of the gradient.
        beta: of the paper.
        decay: see `Rule`.
        name: the scope of the state.
    """

    slot_names = ("accumulator", "linear")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        decay: float = 0.0,
        name: str = "Ftrl",
    ) -> None:
        settings = {
            "learning_rate_power": learning_rate_power,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "beta": beta,
        }
        super().__init__(name, learning_rate, settings, decay)
        self._start, self._shrinkage = initial_accumulator_value, l2_shrinkage_regularization_strength

    def start_of(self, slot: str) -> float:
        """The value that a slot starts with."""
        return self._start if slot == "accumulator" else 0.0

    def dense(self, variable: Any, gradient: Any) -> Any:
        """The op that updates a variable."""
        inputs = self._inputs(variable)
        if self._shrinkage:
            return tf.raw_ops.ResourceApplyFtrlV2(grad=gradient, l2_shrinkage=self._shrunk(variable), **inputs)
        return tf.raw_ops.ResourceApplyFtrl(grad=gradient, **inputs)

    def sparse(self, variable: Any, gradient: Any, indices: Any) -> Any:
        """The op that updates rows of a variable."""
        inputs = {"grad": gradient, "indices": indices, **self._inputs(variable)}
        if self._shrinkage:
            return tf.raw_ops.ResourceSparseApplyFtrlV2(l2_shrinkage=self._shrunk(variable), **inputs)
        return tf.raw_ops.ResourceSparseApplyFtrl(**inputs)

    def _shrunk(self, variable: Any) -> Any:
        return tf.constant(self._shrinkage, variable.dtype.base_dtype)

    def _inputs(self, variable: Any) -> dict[str, Any]:
        rate = self.rate(variable)
        return {
            "var": variable.handle,
            "accum": self.slot(variable, "accumulator").handle,
            "linear": self.slot(variable, "linear").handle,
            "lr": rate,
            "l1": self.setting("l1_regularization_strength", variable),
            "l2": self.setting("l2_regularization_strength", variable) + self.setting("beta", variable) / (2 * rate),
            "lr_power": self.setting("learning_rate_power", variable),
        }
