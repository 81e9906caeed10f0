"""The plain recurrent cell: one matrix, one activation."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.base import LayerRNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import expect_tensor


class BasicRNNCell(LayerRNNCell):
    """`output = new_state = activation([inputs, state] @ kernel + bias)`.

    Args:
        num_units: width of the output and of the state.
        activation: a function or its name; tanh when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        name: the cell's scope.
        dtype: type of the variables; that of the first input when left out.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units = units_of("BasicRNNCell", num_units)
        self._activation = activation_of("BasicRNNCell", activation)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def _make_variables(self, depth: int) -> None:
        self._kernel = self.add_variable("kernel", shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable("bias", shape=[self._num_units], initializer="zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("BasicRNNCell", state, self._num_units)
        total = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._kernel), self._bias)
        output = self._activation(total)
        return output, output
