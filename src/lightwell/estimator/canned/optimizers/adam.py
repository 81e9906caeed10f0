"""`Adam`: steps by moving averages of the gradient and of its square."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.estimator.canned.optimizers.base import Rule, faded


class Adam(Rule):
    """Adam, as Keras 2 computed it.

    Args:
        learning_rate: see `Rule`.
        beta_1: how much of the average of gradients stays at each step.
        beta_2: how much of the average of their squares stays.
        epsilon: added to the root of the latter.
        amsgrad: whether to divide by the largest such root so far.
        decay: see `Rule`.
        name: the scope of the state.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        decay: float = 0.0,
        name: str = "Adam",
    ) -> None:
        super().__init__(name, learning_rate, {"beta_1": beta_1, "beta_2": beta_2}, decay)
        self._epsilon = epsilon
        self.slot_names = ("m", "v", "vhat") if amsgrad else ("m", "v")

    def dense(self, variable: Any, gradient: Any) -> Any:
        """The op that updates a variable."""
        beta_1, beta_2 = self.setting("beta_1", variable), self.setting("beta_2", variable)
        step = self.steps_taken(variable) + 1
        inputs = {
            "var": variable.handle,
            "m": self.slot(variable, "m").handle,
            "v": self.slot(variable, "v").handle,
            "beta1_power": tf.pow(beta_1, step),
            "beta2_power": tf.pow(beta_2, step),
            "lr": self.rate(variable),
            "beta1": beta_1,
            "beta2": beta_2,
            "epsilon": tf.constant(self._epsilon, variable.dtype.base_dtype),
            "grad": gradient,
        }
        if "vhat" in self.slot_names:
            return tf.raw_ops.ResourceApplyAdamWithAmsgrad(vhat=self.slot(variable, "vhat").handle, **inputs)
        return tf.raw_ops.ResourceApplyAdam(**inputs)

    def sparse(self, variable: Any, gradient: Any, indices: Any) -> Any:
        """The op that updates a variable of which only some rows have a gradient; the averages of all rows move."""
        beta_1, beta_2 = self.setting("beta_1", variable), self.setting("beta_2", variable)
        step = self.steps_taken(variable) + 1
        rate = self.rate(variable) * tf.sqrt(1 - tf.pow(beta_2, step)) / (1 - tf.pow(beta_1, step))
        mean = faded(self.slot(variable, "m"), beta_1, gradient, indices)
        square = faded(self.slot(variable, "v"), beta_2, gradient * gradient, indices)
        if "vhat" in self.slot_names:
            largest = self.slot(variable, "vhat")
            square = largest.assign(tf.maximum(largest, square), read_value=True)
        step_down = rate * mean / (tf.sqrt(square) + tf.constant(self._epsilon, variable.dtype.base_dtype))
        return variable.assign_sub(step_down, read_value=False)
