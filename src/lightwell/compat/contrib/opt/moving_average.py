"""An optimizer that keeps moving averages of what it trains, and a saver that saves those in place of the variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

_v1 = tf.compat.v1


class MovingAverageOptimizer(tf.compat.v1.train.Optimizer):
    """Wraps an optimizer; after each step, averages of the variables move.

    Args:
        opt: the optimizer.
        average_decay: how slowly averages move.
        num_updates: a counter that lets averages move faster at first.
        sequential_update: whether averages wait for the step.
    """

    def __init__(
        self, opt: Any, average_decay: float = 0.9999, num_updates: Any = None, sequential_update: bool = True
    ) -> None:
        super().__init__(False, type(self).__name__)
        self._optimizer = opt
        self._average = tf.train.ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, Any] | None = None
        self._sequential_update = sequential_update

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Those of the optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """A step of the optimizer, and one of the averages."""
        update = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        variables = [variable for _, variable in grads_and_vars if variable is not None]
        with tf.control_dependencies([update] if self._sequential_update else []):
            averaged = self._average.apply(variables)
        self._swapped = {}
        for variable in variables:
            average = self._average.average(variable)
            self._swapped[average.op.name] = variable
            self._swapped[variable.op.name] = average
        return tf.group(update, averaged, name="train_with_avg")

    def swapping_saver(self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any) -> Any:
        """A saver that writes averages under the names of their variables, and the other way round.

        Args:
            var_list: variables, or a dict of them by name; all if None.
            name: of the saver's operations.
            **kwargs: of `tf.compat.v1.train.Saver`.
        """
        if self._swapped is None:
            raise UsageError(
                "MovingAverageOptimizer.swapping_saver: Must call apply_gradients or minimize before creating the "
                "swapping_saver."
            )
        chosen = _v1.global_variables() if var_list is None else var_list
        by_name = dict(chosen) if isinstance(chosen, Mapping) else {one.op.name: one for one in chosen}
        for variable in list(by_name.values()):
            partner = self._swapped.get(variable.op.name)
            if partner is not None and partner.op.name not in by_name:
                raise UsageError(
                    f"MovingAverageOptimizer.swapping_saver: Variable to swap {variable.op.name} has its partner "
                    f"{partner.op.name} outside of var_list. Pass both."
                )
        swapped = {name: self._swapped.get(variable.op.name, variable) for name, variable in by_name.items()}
        return _v1.train.Saver(swapped, name=name, **kwargs)

    def get_slot(self, var: Any, name: str) -> Any:
        """That of the optimizer."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Those of the optimizer."""
        return list(self._optimizer.get_slot_names())

    def variables(self) -> list[Any]:
        """Those of the optimizer."""
        return list(self._optimizer.variables())
