"""`RMSprop`: gradients divided by the root of a moving average of their squares."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.estimator.canned.optimizers.base import Rule, faded


class RMSprop(Rule):
    """RMSprop, as Keras 2 computed it.

    Args:
        learning_rate: see `Rule`.
        rho: how much of the average stays at each step.
        momentum: how much of the last step is taken again.
        epsilon: added to the root; with momentum, to what the root is taken of.
        centered: whether to divide by the deviation, and not by the root of the mean square.
        decay: see `Rule`.
        name: the scope of the state.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        decay: float = 0.0,
        name: str = "RMSprop",
    ) -> None:
        super().__init__(name, learning_rate, {"rho": rho, "momentum": momentum}, decay)
        self._epsilon, self._has_momentum, self._centered = epsilon, bool(momentum), centered
        self.slot_names = ("rms", *(["momentum"] if momentum else []), *(["mg"] if centered else []))

    def dense(self, variable: Any, gradient: Any) -> Any:
        """The op that updates a variable."""
        if self._has_momentum:
            apply = tf.raw_ops.ResourceApplyCenteredRMSProp if self._centered else tf.raw_ops.ResourceApplyRMSProp
            return apply(grad=gradient, **self._inputs(variable))
        rho = self.setting("rho", variable)
        rms = self.slot(variable, "rms")
        square = rms.assign(rho * rms + (1 - rho) * tf.square(gradient), read_value=True)
        mean = None
        if self._centered:
            average = self.slot(variable, "mg")
            mean = average.assign(rho * average + (1 - rho) * gradient, read_value=True)
        return variable.assign_sub(self._step(variable, gradient, square, mean), read_value=False)

    def sparse(self, variable: Any, gradient: Any, indices: Any) -> Any:
        """The op that updates rows of a variable. Without momentum, the averages of all rows fade."""
        if self._has_momentum:
            apply = (
                tf.raw_ops.ResourceSparseApplyCenteredRMSProp
                if self._centered
                else tf.raw_ops.ResourceSparseApplyRMSProp
            )
            return apply(grad=gradient, indices=indices, **self._inputs(variable))
        rho = self.setting("rho", variable)
        square = tf.gather(faded(self.slot(variable, "rms"), rho, tf.square(gradient), indices), indices)
        mean = None
        if self._centered:
            mean = tf.gather(faded(self.slot(variable, "mg"), rho, gradient, indices), indices)
        step = self._step(variable, gradient, square, mean)
        return tf.raw_ops.ResourceScatterSub(resource=variable.handle, indices=indices, updates=step)

    def _step(self, variable: Any, gradient: Any, square: Any, mean: Any) -> Any:
        spread = square if mean is None else square - tf.square(mean)
        return self.rate(variable) * gradient / (tf.sqrt(spread) + self._added(variable))

    def _inputs(self, variable: Any) -> dict[str, Any]:
        centered = {"mg": self.slot(variable, "mg").handle} if self._centered else {}
        return {
            "var": variable.handle,
            "ms": self.slot(variable, "rms").handle,
            "mom": self.slot(variable, "momentum").handle,
            "lr": self.rate(variable),
            "rho": self.setting("rho", variable),
            "momentum": self.setting("momentum", variable),
            "epsilon": self._added(variable),
            **centered,
        }

    def _added(self, variable: Any) -> Any:
        return tf.constant(self._epsilon, variable.dtype.base_dtype)
