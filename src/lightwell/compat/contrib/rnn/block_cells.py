"""The cells that TensorFlow 1 computed in one operation: the same variables and numbers, from plain operations.

Their operations are still in TensorFlow, their gradients are not.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.rnn_cell.gru import GRUCell
from lightwell.model.rnn_cell.lstm import LSTMCell


class LSTMBlockCell(LSTMCell):
    """An LSTM cell, as `rnn_cell.LSTMCell`, with the same variables (`lstm_cell/kernel`, `lstm_cell/bias`).

    Args:
        num_units: width of the memory and of the output.
        forget_bias: added to the forget gate.
        cell_clip: bound of the memory's values; none if None, or not more than 0.
        use_peephole: whether the gates see the memory.
        dtype: type of the variables; that of the first input when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        name: the cell's scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str = "lstm_cell",
    ) -> None:
        super().__init__(num_units, use_peephole, forget_bias=forget_bias, reuse=reuse, name=name, dtype=dtype)
        self._bound = cell_clip if cell_clip is not None and cell_clip > 0 else None

    def _updated_memory(self, memory: Any, *, write: Any, new: Any, keep: Any) -> Any:
        updated = super()._updated_memory(memory, write=write, new=new, keep=keep)
        if self._bound is None:
            return updated
        # The gradient of the one operation passed the bound unchanged.
        return updated + tf.stop_gradient(tf.clip_by_value(updated, -self._bound, self._bound) - updated)


class GRUBlockCellV2(GRUCell):
    """A gated recurrent unit, as `rnn_cell.GRUCell`, with the same variables.

    Args:
        num_units: width of the output and of the state.
        cell_size: the same, by its older name.
        reuse: whether to take variables that exist already in the cell's scope.
        name: the cell's scope.
    """

    def __init__(
        self, num_units: int | None = None, cell_size: int | None = None, reuse: Any = None, name: str = "gru_cell"
    ) -> None:
        if (num_units is None) == (cell_size is None):
            raise UsageError(
                f"{type(self).__name__}: exactly one of num_units or cell_size must be provided, got "
                f"num_units={num_units}, cell_size={cell_size}."
            )
        units: Any = cell_size if num_units is None else num_units
        super().__init__(units, reuse=reuse, name=name)


class GRUBlockCell(GRUBlockCellV2):
    """The same with the older names of its variables: `w_ru`, `b_ru`, `w_c`, `b_c`."""

    def _affine(self, part: str, rows: int, columns: int, *, bias: str) -> tuple[Any, Any]:
        letters = {"gates": "ru", "candidate": "c"}[part]
        kernel = self.add_variable(f"w_{letters}", shape=[rows, columns])
        return kernel, self.add_variable(f"b_{letters}", shape=[columns], initializer=bias)
