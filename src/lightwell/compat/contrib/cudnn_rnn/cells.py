"""The cells whose weights a checkpoint of a cuDNN layer holds."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.rnn.block_cells import LSTMBlockCell
from lightwell.model.rnn_cell.gru import GRUCell
from lightwell.model.rnn_cell.state import expect_tensor


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """An LSTM without a forget bias.

    Args:
        num_units: width of the memory and of the output.
        reuse: whether to take variables that exist already in the cell's scope.
    """

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(num_units, forget_bias=0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """A gated recurrent unit that resets behind its matrix, which has a bias of its own.

    Args:
        num_units: width of the output and of the state.
        reuse: whether to take variables that exist already in the cell's scope.
        kernel_initializer: of all matrices.
    """

    def __init__(self, num_units: int, reuse: Any = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def _make_variables(self, depth: int) -> None:
        units = self._num_units
        self._gate_kernel, self._gate_bias = self._affine("gates", depth + units, 2 * units, bias="ones")
        self._of_input = self._affine("candidate/input_projection", depth, units, bias="zeros")
        self._of_state = self._affine("candidate/hidden_projection", units, units, bias="zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("CudnnCompatibleGRUCell", state, self._num_units)
        both = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
        reset, update = tf.split(tf.sigmoid(tf.nn.bias_add(both, self._gate_bias)), 2, axis=1)
        kernel, bias = self._of_state
        remembered = reset * tf.nn.bias_add(tf.matmul(state, kernel), bias)
        kernel, bias = self._of_input
        candidate = tf.tanh(tf.nn.bias_add(tf.matmul(inputs, kernel), bias) + remembered)
        new_state = (1 - update) * candidate + update * state
        return new_state, new_state
