"""The plain LSTM: no peepholes, no clipping, no projection."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.base import LayerRNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, expect_pair, expect_tensor


class BasicLSTMCell(LayerRNNCell):
    """An LSTM without options.

    Args:
        num_units: width of the output, and of each half of the state.
        forget_bias: added to the forget gate, so that a new cell remembers. Use 0.0 for weights of CudnnLSTM.
        state_is_tuple: whether the state is `LSTMStateTuple(c, h)` or one tensor `[batch, 2 * num_units]`.
        activation: of the new input and of the memory: a function or its name; tanh when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        name: the cell's scope.
        dtype: type of the variables; that of the first input when left out.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units = units_of("BasicLSTMCell", num_units)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation_of("BasicLSTMCell", activation)

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self._num_units)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _make_variables(self, depth: int) -> None:
        gates = 4 * self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + self._num_units, gates])
        self._bias = self.add_variable("bias", shape=[gates], initializer="zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = self._halves(state)
        total = tf.nn.bias_add(tf.matmul(tf.concat([inputs, hidden], 1), self._kernel), self._bias)
        write, new, keep, show = tf.split(total, num_or_size_splits=4, axis=1)

        retained = tf.multiply(memory, tf.sigmoid(tf.add(keep, tf.cast(self._forget_bias, keep.dtype))))
        memory = tf.add(retained, tf.multiply(tf.sigmoid(write), self._activation(new)))
        hidden = tf.multiply(self._activation(memory), tf.sigmoid(show))
        return hidden, LSTMStateTuple(memory, hidden) if self._state_is_tuple else tf.concat([memory, hidden], 1)

    def _halves(self, state: Any) -> tuple[Any, Any]:
        if self._state_is_tuple:
            pair = expect_pair("BasicLSTMCell", state, self.state_size)
            return pair.c, pair.h
        memory, hidden = tf.split(expect_tensor("BasicLSTMCell", state, self.state_size), 2, axis=1)
        return memory, hidden
