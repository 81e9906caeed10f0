"""The update gate recurrent unit and the intersection unit (Collins et al., 2016, arXiv 1611.09913)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.rnn.affine import affine
from lightwell.errors import UsageError
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import activation_of, units_of
from lightwell.model.rnn_cell.state import expect_tensor

_v1 = tf.compat.v1


class UGRNNCell(RNNCell):
    """A unit with one gate: it keeps its state, or takes a new one.

    Args:
        num_units: width of the state and of the output.
        initializer: of the kernel; the scope's if None.
        forget_bias: added to the gate.
        activation: of the new state.
        reuse: whether to take variables that exist already in the cell's scope.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = tf.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = units_of("UGRNNCell", num_units)
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation_of("UGRNNCell", activation)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("UGRNNCell", state, self._num_units)
        total = affine([inputs, state], 2 * self._num_units, kernel_initializer=self._initializer)
        gate, new = tf.split(total, 2, axis=1)
        kept = tf.sigmoid(gate + self._forget_bias)
        new_state = kept * state + (1 - kept) * self._activation(new)
        return new_state, new_state


class IntersectionRNNCell(RNNCell):
    """A unit with a gate over time and one over depth: its output is its input, or something new.

    Args:
        num_units: width of the state and of the output.
        num_in_proj: width that inputs are projected to, which must be `num_units`; not at all if None.
        initializer: of the kernels; the scope's if None.
        forget_bias: added to both gates.
        y_activation: of the new output.
        reuse: whether to take variables that exist already in the cell's scope.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = tf.nn.relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = units_of("IntersectionRNNCell", num_units)
        self._num_in_proj = num_in_proj
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation_of("IntersectionRNNCell", y_activation)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        state = expect_tensor("IntersectionRNNCell", state, self._num_units)
        if inputs.shape[-1] != self._num_units and self._num_in_proj:
            with _v1.variable_scope("in_projection"):
                inputs = affine(inputs, self._num_in_proj, kernel_initializer=self._initializer)
        if inputs.shape[-1] != self._num_units:
            raise UsageError(
                "IntersectionRNNCell: Must have input size == output size for Intersection RNN. "
                f"To fix, num_in_proj should be set to num_units ({self._num_units}) at cell init; got inputs of width "
                f"{inputs.shape[-1]}."
            )
        total = affine([inputs, state], 4 * self._num_units, kernel_initializer=self._initializer)
        over_depth, new_output, over_time, new_state = self._parts(total)
        output = over_depth * inputs + (1 - over_depth) * new_output
        return output, over_time * state + (1 - over_time) * new_state

    def _parts(self, total: Any) -> tuple[Any, Any, Any, Any]:
        over_time, new_state, over_depth, new_output = tf.split(total, 4, axis=1)
        over_depth, over_time = (tf.sigmoid(gate + self._forget_bias) for gate in (over_depth, over_time))
        return over_depth, self._activation(new_output), over_time, tf.tanh(new_state)
