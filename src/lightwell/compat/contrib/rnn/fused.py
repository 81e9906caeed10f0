"""Whole sequences at once, time first: the fused LSTM, and any cell in its place."""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.layers.base import Layer
from lightwell.model.rnn_cell.state import LSTMStateTuple

_v1 = tf.compat.v1


class FusedRNNCell(abc.ABC):
    """`(inputs [time, batch, depth], state) -> (outputs [time, batch, width], state)`."""

    @abc.abstractmethod
    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        """Runs the sequence."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """Any cell as a fused one.

    Args:
        cell: the cell.
        use_dynamic_rnn: whether to run it in a loop, or unrolled.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        """Runs the sequence."""
        is_list = isinstance(inputs, list)
        options = {
            "sequence_length": sequence_length,
            "initial_state": initial_state,
            "dtype": dtype,
            "scope": scope,
        }
        if self._use_dynamic_rnn:
            whole = tf.stack(inputs) if is_list else inputs
            outputs, state = _v1.nn.dynamic_rnn(self._cell, whole, time_major=True, **options)
            return (tf.unstack(outputs, num=len(inputs)) if is_list else outputs), state
        outputs, state = _v1.nn.static_rnn(self._cell, inputs if is_list else tf.unstack(inputs), **options)
        return (outputs if is_list else tf.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that reads each sequence from its end.

    Args:
        cell: a fused cell.
    """

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> Any:
        """Runs the sequence backwards; outputs are in the order of `inputs`."""
        turned = self._turned(inputs, sequence_length)
        outputs, state = self._cell(
            turned, initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope
        )
        return self._turned(outputs, sequence_length), state

    def _turned(self, values: Any, lengths: Any) -> Any:
        if isinstance(values, list):
            return tf.unstack(self._turned(tf.stack(values), lengths), num=len(values))
        if lengths is None:
            return tf.reverse(values, [0])
        return tf.reverse_sequence(values, lengths, seq_axis=0, batch_axis=1)


class LSTMBlockWrapper(Layer):
    """The base of LSTMs over a whole sequence. A subclass defines `num_units` and `_call_cell`.

    Its calls take `(inputs, initial_state, dtype, sequence_length)`; `inputs` are `[time, batch, depth]`.
    """

    @property
    def num_units(self) -> int:
        """Width of the memory and of the output."""
        raise NotImplementedError(f"{type(self).__name__} has no num_units. Define it as a property of the class.")

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> Any:
        """All memories and outputs, each `[time, batch, num_units]`."""
        raise NotImplementedError(f"{type(self).__name__} has no _call_cell. Define it in the class.")

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> Any:
        """Runs the sequence.

        Returns:
            The outputs, and the state after the last step of each sequence.
        """
        is_list = isinstance(inputs, list)
        whole = tf.stack(inputs) if is_list else inputs
        if whole.shape.rank is not None and whole.shape.rank != 3:
            raise UsageError(f"{type(self).__name__}: expected inputs [time, batch, depth], got shape {whole.shape}.")
        memory, output = self._first_state(whole, initial_state, dtype)
        memories, outputs = self._call_cell(whole, memory, output, whole.dtype, sequence_length)
        if sequence_length is None:
            state = LSTMStateTuple(memories[-1], outputs[-1])
        else:
            lengths = tf.cast(sequence_length, tf.int32)
            known = tf.sequence_mask(lengths, tf.shape(whole)[0], dtype=whole.dtype)
            outputs = outputs * tf.transpose(known)[:, :, None]
            state = LSTMStateTuple(_at(memories, memory, lengths), _at(outputs, output, lengths))
        return (tf.unstack(outputs, num=len(inputs)) if is_list else outputs), state

    def _first_state(self, inputs: Any, given: Any, dtype: Any) -> tuple[Any, Any]:
        if given is not None:
            return given[0], given[1]
        if dtype is None:
            raise UsageError(f"{type(self).__name__}: Either initial_state or dtype needs to be specified.")
        zeros = tf.zeros(tf.stack([tf.shape(inputs)[1], self.num_units]), dtype)
        return zeros, zeros


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over a whole sequence, in one operation.

    Args:
        num_units: width of the memory and of the output.
        forget_bias: added to the forget gate.
        cell_clip: bound of the memory's values; none if None.
        use_peephole: whether the gates see the memory.
        reuse: whether to take variables that exist already in the layer's scope.
        dtype: type of the variables; that of the first input when left out.
        name: the layer's scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1.0 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole

    @property
    def num_units(self) -> int:
        """Width of the memory and of the output."""
        return self._units

    def build(self, input_shape: Any) -> None:
        """Makes the variables."""
        shape, units = tf.TensorShape(input_shape), self._units
        if shape.rank != 3 or tf.compat.dimension_value(shape[-1]) is None:
            raise UsageError(
                f"{type(self).__name__}: expected inputs [time, batch, depth] of known depth, got {shape}."
            )
        self._kernel = self.add_variable("kernel", shape=[int(shape[-1]) + units, 4 * units])
        self._bias = self.add_variable("bias", shape=[4 * units], initializer="zeros")
        if self._use_peephole:
            self._diagonals = [self.add_variable(f"w_{gate}_diag", shape=[units]) for gate in "ifo"]
        self.built = True

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> Any:
        of_input, of_forget, of_output = self._diagonals if self._use_peephole else [tf.zeros([self._units], dtype)] * 3
        steps = tf.shape(inputs)[0] if sequence_length is None else tf.reduce_max(sequence_length)
        made = tf.raw_ops.BlockLSTM(
            seq_len_max=tf.cast(steps, tf.int64),
            x=inputs,
            cs_prev=initial_cell_state,
            h_prev=initial_output,
            w=self._kernel,
            wci=of_input,
            wcf=of_forget,
            wco=of_output,
            b=self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return made.cs, made.h


def _at(values: Any, first: Any, lengths: Any) -> Any:
    """Of `values [time, batch, width]`, that of each row's last step; `first` where it has none."""
    all_steps = tf.concat([first[None], values], 0)
    rows = tf.range(tf.shape(first)[0])
    return tf.gather_nd(all_steps, tf.stack([lengths, rows], 1))
