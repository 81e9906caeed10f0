"""Adds a cell's input to its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.rnn_cell.wrapper import CellWrapper


class ResidualWrapper(CellWrapper):
    """`output = inputs + cell's output`.

    Args:
        cell: the cell to wrap.
        residual_fn: a function of `(inputs, outputs)` to use in place of the sum.
    """

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _wrapped_step(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        outputs, new_state = super()._wrapped_step(inputs, state, scope)
        return (self._residual_fn or _add)(inputs, outputs), new_state


def _add(inputs: Any, outputs: Any) -> Any:
    try:
        tf.nest.assert_same_structure(inputs, outputs)
        tf.nest.map_structure(
            lambda before, after: before.shape.assert_is_compatible_with(after.shape), inputs, outputs
        )
    except (TypeError, ValueError):
        raise UsageError(
            f"ResidualWrapper: expected inputs and outputs of the same shape, got inputs {_shapes(inputs)} and outputs "
            f"{_shapes(outputs)}. Give the cell as many units as the input is wide, or pass residual_fn."
        ) from None
    return tf.nest.map_structure(lambda before, after: before + after, inputs, outputs)


def _shapes(tensors: Any) -> Any:
    return tf.nest.map_structure(lambda tensor: str(tensor.shape), tensors)
