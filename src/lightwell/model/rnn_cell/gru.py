"""The gated recurrent unit of Cho et al., 2014 (arXiv 1406.1078)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.base import LayerRNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import expect_tensor


class GRUCell(LayerRNNCell):
    """A gated recurrent unit; its output is its new state.

    Args:
        num_units: width of the output and of the state.
        activation: of the candidate state: a function or its name; tanh when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        kernel_initializer: for both matrices; the variable scope's when left out.
        bias_initializer: for both biases; when left out, ones for the gates and zeros for the candidate.
        name: the cell's scope.
        dtype: type of the variables; that of the first input when left out.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self._num_units = units_of("GRUCell", num_units)
        self._activation = activation_of("GRUCell", activation)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def _make_variables(self, depth: int) -> None:
        rows, units = depth + self._num_units, self._num_units
        self._gate_kernel, self._gate_bias = self._affine("gates", rows, 2 * units, bias="ones")
        self._candidate_kernel, self._candidate_bias = self._affine("candidate", rows, units, bias="zeros")

    def _affine(self, part: str, rows: int, columns: int, *, bias: str) -> tuple[Any, Any]:
        kernel = self.add_variable(f"{part}/kernel", shape=[rows, columns], initializer=self._kernel_initializer)
        initializer = bias if self._bias_initializer is None else self._bias_initializer
        return kernel, self.add_variable(f"{part}/bias", shape=[columns], initializer=initializer)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("GRUCell", state, self._num_units)
        both = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
        gates = tf.sigmoid(tf.nn.bias_add(both, self._gate_bias))
        reset, update = tf.split(gates, num_or_size_splits=2, axis=1)

        remembered = tf.matmul(tf.concat([inputs, reset * state], 1), self._candidate_kernel)
        candidate = self._activation(tf.nn.bias_add(remembered, self._candidate_bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state
