"""A cell that attends to its own last outputs (Cheng et al., 2016; Bahdanau's attention over a window)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.compat.contrib.rnn.affine import affine
from lightwell.errors import UsageError, WrongType
from lightwell.model.rnn_cell.base import RNNCell
from lightwell.model.rnn_cell.options import cell_of

_v1 = tf.compat.v1


class AttentionCellWrapper(RNNCell):
    """A cell with attention over its last `attn_length` outputs.

    Args:
        cell: the cell inside.
        attn_length: how many outputs it looks back at.
        attn_size: width of an output; that of the cell if None.
        attn_vec_size: width of the space in which they are compared; `attn_size` if None.
        input_size: width that inputs are projected to; that of the inputs if None.
        state_is_tuple: whether the state is `(state of the cell, attention, window)`, or one tensor.
        reuse: whether to take variables that exist already in the cell's scope.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        cell_of("AttentionCellWrapper", cell)
        if tf.nest.is_nested(cell.state_size) and not state_is_tuple:
            raise UsageError(
                "AttentionCellWrapper: Cell returns tuple of states, but the flag state_is_tuple is not set. "
                f"State size is: {cell.state_size}. Pass state_is_tuple=True."
            )
        if attn_length <= 0:
            raise UsageError(f"AttentionCellWrapper: attn_length should be greater than zero, got {attn_length}.")
        if not state_is_tuple:
            logger.warning("AttentionCellWrapper: a state in one tensor is slower. Use state_is_tuple=True.")
        if not isinstance(cell.output_size, int):
            raise WrongType(f"AttentionCellWrapper: expected a cell of one output, got {cell.output_size}.")
        self._cell = cell
        self._length = attn_length
        self._width = cell.output_size if attn_size is None else attn_size
        self._vector = self._width if attn_vec_size is None else attn_vec_size
        self._input_size = input_size
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = (self._cell.state_size, self._width, self._width * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._width

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        if self._state_is_tuple:
            of_cell, attended, window = state
        else:
            of_cell, attended, window = tf.split(
                state, [self._cell.state_size, self._width, self._width * self._length], axis=1
            )
        window = tf.reshape(window, [-1, self._length, self._width])
        mixed = affine([inputs, attended], self._input_size or inputs.shape[-1])
        from_cell, of_cell = self._cell(mixed, of_cell)
        query = tf.concat(tf.nest.flatten(of_cell), 1)
        attended = self._attention(query, window)
        with _v1.variable_scope("attn_output_projection"):
            output = affine([from_cell, attended], self._width)
        window = tf.concat([window[:, 1:], output[:, None]], 1)
        new_state = (of_cell, attended, tf.reshape(window, [-1, self._length * self._width]))
        return output, new_state if self._state_is_tuple else tf.concat(new_state, 1)

    def _attention(self, query: Any, window: Any) -> Any:
        """The mean of the window, by how well each place answers the query."""
        with _v1.variable_scope("attention"):
            # A convolution of size 1: the variable has the shape that checkpoints have.
            kernel = _v1.get_variable("attn_w", [1, 1, self._width, self._vector], query.dtype)
            direction = _v1.get_variable("attn_v", [self._vector], query.dtype)
            asked = affine(query, self._vector)
        places = tf.tensordot(window, kernel[0, 0], 1)
        scores = tf.reduce_sum(direction * tf.tanh(places + asked[:, None]), 2)
        return tf.reduce_sum(tf.nn.softmax(scores)[:, :, None] * window, 1)
