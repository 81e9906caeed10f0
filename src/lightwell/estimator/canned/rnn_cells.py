"""The recurrent layer of a model, of whatever a user names: cells by name or class, or a function that makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import keras

from lightwell.errors import UsageError, WrongType
from lightwell.foreign import private_keras

NOT_GIVEN = "simple_rnn"
_CELLS = {
    "simple_rnn": keras.layers.SimpleRNNCell,
    "lstm": keras.layers.LSTMCell,
    "gru": keras.layers.GRUCell,
}
_LAYERS = {"simple_rnn": keras.layers.SimpleRNN, "lstm": keras.layers.LSTM, "gru": keras.layers.GRU}


@dataclass(frozen=True)
class Recurrence:
    """How the recurrent layer comes about.

    Attributes:
        where: the model, for errors.
        make_cell: makes its cell; None where `make_layer` makes the whole.
        make_layer: makes the layer, given `return_sequences`.
    """

    where: str
    make_cell: Callable[[], Any] | None
    make_layer: Callable[..., Any] | None = None

    def __call__(self, return_sequences: bool) -> Any:
        """A new layer.

        Raises:
            UsageError: what the user's function gave is no cell.
        """
        if self.make_layer is not None:
            return self.make_layer(return_sequences=return_sequences)
        cell = self.make_cell() if self.make_cell is not None else None
        if not callable(getattr(cell, "call", None)) or not hasattr(cell, "state_size"):
            raise UsageError(
                f"{self.where}: rnn_cell_fn must give a cell. Argument `cell` should have a `call` method and a "
                f"`state_size`. The RNN was passed: cell={cell!r}. Return keras.layers.LSTMCell(units) or its like; "
                "for several layers, keras.layers.StackedRNNCells([...])."
            )
        return _keras_of(cell).layers.RNN(cell, return_sequences=return_sequences, name="rnn")


def recurrence(where: str, units: Any, cell_type: Any, rnn_cell_fn: Any) -> Recurrence:
    """How the recurrent layer comes about, by what a user gave; `cell_type` is None if they gave none.

    Raises:
        UsageError: the three do not go together, or one is nothing of the kind.
        WrongType: there is neither `units` nor `rnn_cell_fn`, or one is of the wrong type.
    """
    if rnn_cell_fn is not None:
        if units is not None or cell_type is not None:
            raise UsageError(
                f"{where}: units and cell_type must not be specified when using rnn_cell_fn. Got units={units!r}, "
                f"cell_type={cell_type!r} and rnn_cell_fn={rnn_cell_fn!r}: leave out the one or the other."
            )
        if not callable(rnn_cell_fn):
            raise WrongType(
                f"{where}: rnn_cell_fn must be a function without arguments that gives a cell, got {rnn_cell_fn!r}."
            )
        return Recurrence(where, rnn_cell_fn)
    kind = NOT_GIVEN if cell_type is None else cell_type
    if not callable(kind) and kind not in _CELLS:
        raise UsageError(
            f"{where}: `cell_type` should be a class producing a RNN cell, or a string specifying the cell type. "
            f"Supported strings are: {list(_CELLS)}. Got {cell_type!r}."
        )
    if _is_size(units) and cell_type in _LAYERS:
        return Recurrence(where, None, lambda **options: _LAYERS[cell_type](int(units), **options))
    sizes = _sizes(units, where)
    make = kind if callable(kind) else _CELLS[kind]

    def make_cell() -> Any:
        cells = [make(units=size) for size in sizes]
        return cells[0] if len(cells) == 1 else _keras_of(cells[0]).layers.StackedRNNCells(cells)

    return Recurrence(where, make_cell)


def _sizes(units: Any, where: str) -> list[int]:
    if isinstance(units, str) or not isinstance(units, Iterable):
        raise WrongType(
            f"{where}: units must be a list with the number of units of each recurrent layer, such as [32, 16], got "
            f"{units!r}: it is not iterable. Or pass rnn_cell_fn, a function that gives a cell."
        )
    sizes = list(units)
    if not sizes or not all(_is_size(size) for size in sizes):
        raise UsageError(f"{where}: units must hold positive whole numbers, got {sizes!r}.")
    return [int(size) for size in sizes]


def _is_size(size: Any) -> bool:
    return not isinstance(size, bool) and hasattr(size, "__index__") and int(size) > 0


def _keras_of(cell: Any) -> Any:
    """The Keras that a cell is of: Keras 3, or `tf_keras` where the program uses that."""
    legacy = private_keras.legacy_keras()
    return legacy if legacy is not None and isinstance(cell, legacy.layers.Layer) else keras
