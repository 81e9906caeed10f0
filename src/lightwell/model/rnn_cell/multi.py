"""Cells stacked on one another: the output of each is the input of the next."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import cell_of
from lightwell.model.rnn_cell.state import width_of


class MultiRNNCell(RNNCell):
    """A stack of cells, itself a cell.

    Args:
        cells: a list or tuple of cells, the one next to the input first.
        state_is_tuple: whether the state is a tuple with one entry per cell, or all of them side by side in one tensor
            (possible when every cell's state is one tensor).
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not isinstance(cells, (list, tuple)):
            raise WrongType(
                f"MultiRNNCell: cells must be a list or tuple of cells, got {cells!r}. Pass [first_cell, second_cell]."
            )
        if not cells:
            raise UsageError("MultiRNNCell: expected at least one cell, got none. Pass [LSTMCell(128)].")
        self._cells = [cell_of(f"MultiRNNCell, cells[{index}]", cell) for index, cell in enumerate(cells)]
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(tf.nest.is_nested(cell.state_size) for cell in self._cells):
            sizes = [cell.state_size for cell in self._cells]
            raise UsageError(
                f"MultiRNNCell: some cells have a tuple for a state, but state_is_tuple is False; sizes: {sizes}. "
                "Leave state_is_tuple=True, or make those cells with state_is_tuple=False."
            )

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return tuple(cell.state_size for cell in self._cells)
        return sum(width_of(cell.state_size) for cell in self._cells)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The zero states of the cells, which may be other than zeros where a user's cell says so."""
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with tf.compat.v1.name_scope("MultiRNNCellZeroState"):
            return tuple(_first_state(cell, batch_size, dtype) for cell in self._cells)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Runs one step of every cell."""
        new_states = []
        for index, (cell, own_state) in enumerate(zip(self._cells, self._split(state), strict=True)):
            with tf.compat.v1.variable_scope(f"cell_{index}"):
                inputs, new_state = cell(inputs, own_state)
            new_states.append(new_state)
        return inputs, tuple(new_states) if self._state_is_tuple else tf.concat(new_states, 1)

    def _split(self, state: Any) -> Sequence[Any]:
        if not self._state_is_tuple:
            parts: Sequence[Any] = tf.split(state, [width_of(cell.state_size) for cell in self._cells], axis=1)
            return parts
        if not isinstance(state, (list, tuple)) or len(state) != len(self._cells):
            raise UsageError(
                f"MultiRNNCell: expected state to be a tuple of length {len(self._cells)}, got {state!r}. "
                "Start from zero_state(batch_size, dtype)."
            )
        return state

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables of the cells."""
        return self._of_cells("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables of the cells."""
        return self._of_cells("non_trainable_weights")

    @property
    def losses(self) -> list[Any]:
        """The losses of the cells."""
        return self._of_cells("losses")

    def _of_cells(self, attribute: str) -> list[Any]:
        """Each thing once: cells may share it, as in `[cell] * 2`. Cells that keep no account are left out."""
        everything: list[Any] = list(getattr(super(), attribute))
        for cell in self._cells:
            # A user's cell that overrides `__call__` may never have run `RNNCell.__init__`.
            with contextlib.suppress(AttributeError):
                everything += getattr(cell, attribute)
        return list({id(thing): thing for thing in everything}.values())


def _first_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    if hasattr(cell, "zero_state"):
        return cell.zero_state(batch_size, dtype)
    return cell.get_initial_state(batch_size=batch_size, dtype=dtype)
