"""A cell with a highway connection past it (Srivastava et al., 2015, arXiv 1505.00387)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.model.rnn_cell.wrapper import CellWrapper

_v1 = tf.compat.v1


class HighwayWrapper(CellWrapper):
    """Mixes the inputs of a cell into its outputs, by a gate. Its variables (`carry_w`, ...) are in the open scope.

    Args:
        cell: the cell inside, whose outputs are as wide as its inputs.
        couple_carry_transform_gates: whether the share of the outputs is what the inputs leave.
        carry_bias_init: first value of the gate's bias.
    """

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__(cell)
        self._is_coupled = couple_carry_transform_gates
        self._first_bias = carry_bias_init

    def _wrapped_step(self, inputs: Any, state: Any, scope: Any) -> tuple[Any, Any]:
        outputs, state = self.cell(inputs, state, scope=scope)
        carry = self._gate("carry", inputs, self._first_bias)
        share = 1 - carry if self._is_coupled else self._gate("transform", inputs, -self._first_bias)
        return inputs * carry + outputs * share, state

    def _gate(self, name: str, inputs: Any, first_bias: float) -> Any:
        width = inputs.shape[-1]
        weights = _v1.get_variable(f"{name}_w", [width, width], inputs.dtype)
        bias = _v1.get_variable(f"{name}_b", [width], inputs.dtype, _v1.constant_initializer(first_bias))
        return tf.sigmoid(tf.nn.bias_add(tf.matmul(inputs, weights), bias))
