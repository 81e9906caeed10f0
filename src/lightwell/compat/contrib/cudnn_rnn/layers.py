"""`CudnnLSTM`, `CudnnGRU` and their kin: recurrent layers at once, time first, over cells that run everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell
from lightwell.compat.contrib.rnn.stacked import stack_bidirectional_dynamic_rnn
from lightwell.errors import UsageError
from lightwell.model.layers.naming import snake_case
from lightwell.model.rnn_cell.basic_rnn import BasicRNNCell
from lightwell.model.rnn_cell.dropout import DropoutWrapper
from lightwell.model.rnn_cell.multi import MultiRNNCell
from lightwell.model.rnn_cell.state import LSTMStateTuple

_v1 = tf.compat.v1
_DIRECTIONS = ("unidirectional", "bidirectional")


class _Layers:
    """What the layers share.

    Args:
        num_layers: how many layers stand on each other.
        num_units: width of each.
        input_mode: `linear_input`; others are refused.
        direction: `unidirectional` or `bidirectional`.
        dropout: the share that is dropped between layers, in training.
        seed: of that choice.
        dtype: of the weights.
        kernel_initializer: of all matrices.
        bias_initializer: without effect: biases begin as in the cells.
        name: the scope; the class name in lower case if None.
    """

    _cell: Callable[[int], Any]

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        where = type(self).__name__
        if direction not in _DIRECTIONS:
            raise UsageError(f"{where}: Invalid direction {direction!r}; expected one of {', '.join(_DIRECTIONS)}.")
        if input_mode not in ("linear_input", "auto_select"):
            raise UsageError(f"{where}: input_mode {input_mode!r} is not offered; use linear_input.")
        if not 0 <= dropout < 1:
            raise UsageError(f"{where}: dropout must be in [0, 1), got {dropout}.")
        self.num_layers, self.num_units, self.direction = num_layers, num_units, direction
        self.num_dirs = 2 if direction == "bidirectional" else 1
        self._dropout, self._seed = dropout, seed
        self._dtype, self._initializer = dtype, kernel_initializer
        self.name = name or snake_case(where)
        self._scope: Any = None

    def state_shape(self, batch_size: int) -> Any:
        """Shape of the state: `[layers * directions, batch, units]`."""
        return (self._one_shape(batch_size),)

    def _one_shape(self, batch_size: int) -> list[int]:
        return [self.num_layers * self.num_dirs, batch_size, self.num_units]

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
        scope: Any = None,
    ) -> tuple[Any, Any]:
        """Runs the layers.

        Args:
            inputs: `[time, batch, depth]`, or batch first without `time_major`.
            initial_state: as it is returned; zeros if None.
            sequence_lengths: of each example; all of `inputs` if None.
            time_major: whether time comes first.
            training: whether to drop between layers.
            scope: the scope, at the first call.

        Returns:
            The outputs of the last layer, and the last state of each.
        """
        with _v1.variable_scope(
            self._scope or scope, self.name, initializer=self._initializer, reuse=True if self._scope else None
        ) as opened:
            # The layers keep their variables: a second call takes those of the first.
            self._scope = opened
            with _v1.variable_scope(opened, auxiliary_name_scope=False):
                return self._run(inputs, initial_state, sequence_lengths, time_major, training)

    def _run(self, inputs: Any, state: Any, lengths: Any, time_major: bool, training: bool) -> tuple[Any, Any]:
        options: dict[str, Any] = {"sequence_length": lengths, "dtype": self._dtype, "time_major": time_major}
        states = None if state is None else self._taken_apart(state)
        if self.num_dirs == 1:
            first = None if states is None else tuple(states)
            cell = MultiRNNCell([self._layer(place, training) for place in range(self.num_layers)])
            outputs, last = _v1.nn.dynamic_rnn(cell, inputs, initial_state=first, **options)
            return outputs, self._together(list(last))
        ahead, back = ([self._layer(place, training) for place in range(self.num_layers)] for _ in range(2))
        outputs, of_ahead, of_back = stack_bidirectional_dynamic_rnn(
            ahead,
            back,
            inputs,
            initial_states_fw=None if states is None else states[::2],
            initial_states_bw=None if states is None else states[1::2],
            **options,
        )
        return outputs, self._together([one for pair in zip(of_ahead, of_back, strict=True) for one in pair])

    def _layer(self, place: int, training: bool) -> Any:
        cell = type(self)._cell(self.num_units)
        if not (self._dropout and training) or place == 0:
            return cell
        return DropoutWrapper(cell, input_keep_prob=1 - self._dropout, seed=self._seed)

    def _taken_apart(self, state: Any) -> list[Any]:
        whole = state[0] if isinstance(state, (tuple, list)) else state
        return tf.unstack(whole, self.num_layers * self.num_dirs)

    def _together(self, states: list[Any]) -> Any:
        return (tf.stack(states),)


class CudnnLSTM(_Layers):
    """LSTM layers; the state is `(h, c)`, each `[layers * directions, batch, units]`."""

    _cell = CudnnCompatibleLSTMCell

    def state_shape(self, batch_size: int) -> Any:
        """Shapes of `h` and `c`."""
        return (self._one_shape(batch_size), self._one_shape(batch_size))

    def _taken_apart(self, state: Any) -> list[Any]:
        hidden, memory = (tf.unstack(part, self.num_layers * self.num_dirs) for part in state)
        return [LSTMStateTuple(c, h) for c, h in zip(memory, hidden, strict=True)]

    def _together(self, states: list[Any]) -> Any:
        return tf.stack([one.h for one in states]), tf.stack([one.c for one in states])


class CudnnGRU(_Layers):
    """Gated recurrent layers; the state is `(h,)`."""

    _cell = CudnnCompatibleGRUCell


class CudnnRNNTanh(_Layers):
    """Plain recurrent layers; the state is `(h,)`."""

    _cell = BasicRNNCell


class CudnnRNNRelu(_Layers):
    """Plain recurrent layers with relu; the state is `(h,)`."""

    _cell = staticmethod(lambda units: BasicRNNCell(units, activation=tf.nn.relu))
