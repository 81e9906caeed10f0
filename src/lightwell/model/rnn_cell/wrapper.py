"""What the wrappers share: a wrapper has the sizes, states and variables of its cell, and no scope of its own."""

from __future__ import annotations

import contextlib
from typing import Any

import tensorflow as tf

from lightwell.model.layers.naming import snake_case
from lightwell.model.layers.record import BookCall
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import cell_of
from lightwell.model.rnn_cell.record import innermost, name_ahead, record_name


class CellWrapper(RNNCell):
    """A cell around a cell. A subclass changes what `_wrapped_step` gives back.

    Args:
        cell: the cell to wrap.
    """

    # Whether its outputs are worth a line of their own in the book of layers, beside those of the cell inside.
    _changes_values = True

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell_of(type(self).__name__, cell)

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    @property
    def scope_name(self) -> str:
        """The variable scope of the cell inside."""
        return str(self.cell.scope_name)

    def build(self, input_shape: Any) -> None:
        """Makes the variables of the cell inside."""
        self.cell.build(input_shape)
        self.built = True

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Runs one step of the cell inside, in the scope that it takes."""
        if not self._changes_values:
            outputs = self._wrapped_step(inputs, state, scope)
            self.built = True
            return outputs
        own, kind = snake_case(type(self).__name__), type(self).__name__

        def ahead() -> str:
            return f"{name_ahead(self.cell, scope)}/{own}"

        passing = BookCall(name=ahead, kind=kind, layer=self, inside=_alike_inside(self))
        outputs = self._wrapped_step(passing.pass_inputs(inputs), state, scope)
        self.built = True
        inner = record_name(self.cell, tf.compat.v1.get_variable_scope().name)
        passed: tuple[Any, Any] = passing.pass_outputs(outputs, variables=self.variables, name=f"{inner}/{own}")
        return passed

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The same step, in the scope of the caller."""
        return self._wrapped_step(inputs, state, None)

    def _wrapped_step(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        outputs: tuple[Any, Any] = self.cell(inputs, state, scope=scope)
        return outputs

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The zero state of the cell inside."""
        with tf.compat.v1.name_scope(f"{type(self).__name__.lstrip('_')}ZeroState"):
            if hasattr(self.cell, "zero_state"):
                return self.cell.zero_state(batch_size, dtype)
            return self.cell.get_initial_state(batch_size=batch_size, dtype=dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        """The trainable variables of the cell inside."""
        return self._of_cell("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The other variables of the cell inside."""
        return self._of_cell("non_trainable_weights")

    @property
    def losses(self) -> list[Any]:
        """The losses of the cell inside."""
        return self._of_cell("losses")

    def _of_cell(self, attribute: str) -> list[Any]:
        # A user's cell that overrides `__call__` may never have run `RNNCell.__init__`.
        with contextlib.suppress(AttributeError):
            return list(getattr(self.cell, attribute))
        return []


def _alike_inside(wrapper: CellWrapper) -> int:
    """How many wrappers of the same kind stand inside of one, around the same cell: they have its name."""
    count, cell = 0, wrapper.cell
    while cell is not innermost(cell):
        count, cell = count + (type(cell).__name__ == type(wrapper).__name__), cell.wrapped_cell
    return count
