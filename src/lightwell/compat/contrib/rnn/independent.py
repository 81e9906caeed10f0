"""Units that see their own state only: IndRNN (Li et al., 2018), its GRU, its LSTM; SRU (Lei et al., 2017)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.base import LayerRNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import LSTMStateTuple, expect_pair, expect_tensor


class _Cell(LayerRNNCell):
    """What they share: a width, an activation, first values."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = units_of(type(self).__name__, num_units)
        self._activation = activation_of(type(self).__name__, activation)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def _matrix(self, name: str, rows: int, blocks: int) -> Any:
        shape = [rows, blocks * self._num_units]
        return self.add_variable(name, shape=shape, initializer=self._kernel_initializer)

    def _row(self, name: str, blocks: int) -> Any:
        """The weights of each unit's own state."""
        if self._kernel_initializer is not None:
            return self._matrix(name, 1, blocks)
        return self.add_variable(name, shape=[1, blocks * self._num_units], initializer=_small_uniform())

    def _bias_of(self, name: str, blocks: int, first: str) -> Any:
        initializer = first if self._bias_initializer is None else self._bias_initializer
        return self.add_variable(name, shape=[blocks * self._num_units], initializer=initializer)


class IndRNNCell(_Cell):
    """`activation(W x + u * h + b)`.

    Args:
        num_units: width of the state and of the output.
        activation: tanh when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        name: the cell's scope.
        dtype: type of the variables.
    """

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype)

    def _make_variables(self, depth: int) -> None:
        self._kernel_w = self._matrix("kernel_w", depth, 1)
        self._kernel_u = self._row("kernel_u", 1)
        self._bias = self._bias_of("bias", 1, "zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("IndRNNCell", state, self._num_units)
        total = tf.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(tf.nn.bias_add(total, self._bias))
        return output, output


class IndyGRUCell(_Cell):
    """A gated recurrent unit whose units see their own state only; arguments as those of `GRUCell`."""

    def _make_variables(self, depth: int) -> None:
        self._gate_kernel_w = self._matrix("gates/kernel_w", depth, 2)
        self._gate_kernel_u = self._row("gates/kernel_u", 2)
        self._gate_bias = self._bias_of("gates/bias", 2, "ones")
        self._candidate_kernel_w = self._matrix("candidate/kernel", depth, 1)
        self._candidate_kernel_u = self._row("candidate/kernel_u", 1)
        self._candidate_bias = self._bias_of("candidate/bias", 1, "zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("IndyGRUCell", state, self._num_units)
        total = tf.matmul(inputs, self._gate_kernel_w) + tf.tile(state, [1, 2]) * self._gate_kernel_u
        reset, update = tf.split(tf.sigmoid(tf.nn.bias_add(total, self._gate_bias)), 2, axis=1)
        remembered = tf.matmul(inputs, self._candidate_kernel_w) + reset * state * self._candidate_kernel_u
        candidate = self._activation(tf.nn.bias_add(remembered, self._candidate_bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


class IndyLSTMCell(_Cell):
    """An LSTM whose units see their own output only.

    Args:
        num_units: width of the memory and of the output.
        forget_bias: added to the forget gate.
        activation: tanh when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        kernel_initializer: of both kernels.
        bias_initializer: zeros when left out.
        name: the cell's scope.
        dtype: type of the variables.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    def _make_variables(self, depth: int) -> None:
        self._kernel_w = self._matrix("kernel_w", depth, 4)
        self._kernel_u = self._row("kernel_u", 4)
        self._bias = self._bias_of("bias", 4, "zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        memory, hidden = expect_pair("IndyLSTMCell", state, self.state_size)
        total = tf.matmul(inputs, self._kernel_w) + tf.tile(hidden, [1, 4]) * self._kernel_u
        write, new, keep, show = tf.split(tf.nn.bias_add(total, self._bias), 4, axis=1)
        memory = memory * tf.sigmoid(keep + self._forget_bias) + tf.sigmoid(write) * self._activation(new)
        hidden = self._activation(memory) * tf.sigmoid(show)
        return hidden, LSTMStateTuple(memory, hidden)


class SRUCell(_Cell):
    """A simple recurrent unit: nothing of its state is multiplied by a matrix.

    Args:
        num_units: width of the state and of the output.
        activation: tanh when left out.
        reuse: whether to take variables that exist already in the cell's scope.
        name: the cell's scope.
        **kwargs: `dtype` of the variables.
    """

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, **kwargs)

    def _make_variables(self, depth: int) -> None:
        self._kernel = self._matrix("kernel", depth, 4)
        self._bias = self._bias_of("bias", 2, "zeros")

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("SRUCell", state, self._num_units)
        new, forget, reset, passed = tf.split(tf.matmul(inputs, self._kernel), 4, axis=1)
        gates = tf.sigmoid(tf.nn.bias_add(tf.concat([forget, reset], 1), self._bias))
        kept, shown = tf.split(gates, 2, axis=1)
        new_state = kept * state + (1 - kept) * new
        return shown * self._activation(new_state) + (1 - shown) * passed, new_state


def _small_uniform() -> Any:
    return tf.compat.v1.random_uniform_initializer(-1.0, 1.0)
