"""`SGD`: gradient descent, optionally with momentum."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.estimator.canned.optimizers.base import Rule


class SGD(Rule):
    """Gradient descent, as Keras 2 computed it.

    Args:
        learning_rate: see `Rule`.
        momentum: how much of the last step is taken again.
        nesterov: whether to look ahead by the momentum.
        decay: see `Rule`.
        name: the scope of the state.
    """

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        decay: float = 0.0,
        name: str = "SGD",
    ) -> None:
        super().__init__(name, learning_rate, {"momentum": momentum}, decay)
        self._nesterov = nesterov
        self.slot_names = ("momentum",) if momentum else ()

    def dense(self, variable: Any, gradient: Any) -> Any:
        """The op that updates a variable."""
        if not self.slot_names:
            return tf.raw_ops.ResourceApplyGradientDescent(
                var=variable.handle, alpha=self.rate(variable), delta=gradient
            )
        return tf.raw_ops.ResourceApplyKerasMomentum(
            var=variable.handle,
            accum=self.slot(variable, "momentum").handle,
            lr=self.rate(variable),
            grad=gradient,
            momentum=self.setting("momentum", variable),
            use_nesterov=self._nesterov,
        )

    def sparse(self, variable: Any, gradient: Any, indices: Any) -> Any:
        """The op that updates rows of a variable."""
        if not self.slot_names:
            return tf.raw_ops.ResourceScatterAdd(
                resource=variable.handle, indices=indices, updates=-self.rate(variable) * gradient
            )
        return tf.raw_ops.ResourceSparseApplyKerasMomentum(
            var=variable.handle,
            accum=self.slot(variable, "momentum").handle,
            lr=self.rate(variable),
            grad=gradient,
            indices=indices,
            momentum=self.setting("momentum", variable),
            use_nesterov=self._nesterov,
        )
