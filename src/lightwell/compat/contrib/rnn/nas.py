"""The cell of a neural architecture search (Zoph and Le, 2016, arXiv 1611.01578)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.base import LayerRNNCell
from lightwell.model.rnn_cell.options import units_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, expect_pair


class NASCell(LayerRNNCell):
    """A recurrent cell from neural architecture search, with the state of an LSTM.

    Args:
        num_units: width of the memory.
        num_proj: width of the output when it is projected.
        use_bias: whether there is a bias.
        reuse: whether to take variables that exist already in the cell's scope.
        **kwargs: `name` and `dtype` of the cell.
    """

    def __init__(
        self, num_units: int, num_proj: int | None = None, use_bias: bool = False, reuse: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = units_of("NASCell", num_units)
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def _make_variables(self, depth: int) -> None:
        columns = 8 * self._num_units
        self._recurrent_kernel = self.add_variable("recurrent_kernel", shape=[self.output_size, columns])
        self._kernel = self.add_variable("kernel", shape=[depth, columns])
        if self._num_proj:
            self._projection = self.add_variable("projection_weights", shape=[self._num_units, self._num_proj])
        if self._use_bias:
            self._bias = self.add_variable("bias", shape=[columns], initializer="zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = expect_pair("NASCell", state, self.state_size)
        from_state = tf.matmul(hidden, self._recurrent_kernel)
        if self._use_bias:
            from_state = tf.nn.bias_add(from_state, self._bias)
        given = tf.split(tf.matmul(inputs, self._kernel), 8, axis=1)
        kept = tf.split(from_state, 8, axis=1)
        sums = [one + other for one, other in zip(given, kept, strict=True)]
        # The tree of the search result, from its leaves (sums, and one product) to its two roots.
        first = tf.tanh(tf.sigmoid(sums[0]) * tf.nn.relu(sums[1]))
        second = tf.tanh(tf.sigmoid(sums[2]) + tf.nn.relu(given[3] * kept[3]))
        third = tf.tanh(tf.tanh(sums[4]) * tf.sigmoid(sums[5]))
        fourth = tf.sigmoid(tf.tanh(sums[6]) + tf.sigmoid(sums[7]))
        new_memory = tf.tanh(first + memory) * second
        new_hidden = tf.tanh(new_memory * tf.tanh(third + fourth))
        if self._num_proj:
            new_hidden = tf.matmul(new_hidden, self._projection)
        return new_hidden, LSTMStateTuple(new_memory, new_hidden)
