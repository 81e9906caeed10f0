"""States of cells: the pair an LSTM carries, zero states of any structure, and the check of a state handed to a cell.

Takes a cell's `state_size` (an int, a shape, or any structure of them); gives tensors of that structure. Knows no cell
class: everything is passed in.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM cell: `c` is the memory, `h` the output of the step before.

    Also used for sizes: `LSTMCell(3).state_size == LSTMStateTuple(c=3, h=3)`.
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The type that `c` and `h` share."""
        first, second = (tf.convert_to_tensor(part).dtype for part in self)
        if first != second:
            raise WrongType(
                f"LSTMStateTuple: inconsistent dtypes; expected c and h of one type, got c: {first.name}, "
                f"h: {second.name}. Cast one of them with tf.cast."
            )
        return first


def zeros_of(state_size: Any, *, batch_size: Any, dtype: Any) -> Any:
    """Zeros for every size in `state_size`, with the batch in front.

    Args:
        state_size: an int, a `TensorShape` without the batch, or a structure of them.
        batch_size: an int, or a scalar tensor.
        dtype: the type of every tensor.

    Returns:
        The structure of `state_size`, each size replaced by a tensor `[batch_size, *size]`.
    """
    return tf.nest.map_structure(lambda size: tf.zeros(_with_batch(batch_size, size), dtype), state_size)


def noise_shape(size: Any) -> list[int]:
    """The shape of one mask for a tensor of `size`, shared by the whole batch."""
    return [1, *_dimensions(size)]


def width_of(size: Any) -> int:
    """How many numbers per example a tensor of `size` holds."""
    width = 1
    for dimension in _dimensions(size):
        width *= dimension
    return width


def expect_tensor(cell: str, state: Any, size: int, *, part: str = "state") -> Any:
    """The state as a tensor `[batch, size]`, or an error that says what came instead."""
    if state is None or isinstance(state, (list, tuple, dict)):
        kind = "None" if state is None else f"a {type(state).__name__} of {len(state)}"
        error = WrongType if state is None else UsageError
        raise error(
            f"{cell}: expected {part} to be one tensor of shape [batch, {size}], got {kind}. "
            f"Start from {cell}.zero_state(batch_size, dtype)."
        )
    tensor = tf.convert_to_tensor(state)
    if tensor.shape.rank is not None and (tensor.shape.rank != 2 or tensor.shape[-1] not in (None, size)):
        raise UsageError(
            f"{cell}: expected {part} of shape [batch, {size}], got {tensor.shape}. "
            f"Start from {cell}.zero_state(batch_size, dtype)."
        )
    return tensor


def expect_pair(cell: str, state: Any, sizes: LSTMStateTuple) -> LSTMStateTuple:
    """The state as `LSTMStateTuple(c, h)`, or an error that says what came instead."""
    if not isinstance(state, (list, tuple)):
        raise WrongType(
            f"{cell}: expected state to be LSTMStateTuple(c, h), got {_kind(state)}. "
            "Pass LSTMStateTuple(c, h), or make the cell with state_is_tuple=False to keep both in one tensor."
        )
    if len(state) != 2:
        raise UsageError(
            f"{cell}: expected state to be LSTMStateTuple(c, h), got a {type(state).__name__} of {len(state)}. "
            "For stacked cells pass one pair per cell to MultiRNNCell."
        )
    return LSTMStateTuple(
        expect_tensor(cell, state[0], sizes.c, part="state.c"), expect_tensor(cell, state[1], sizes.h, part="state.h")
    )


def _kind(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"a tensor of shape {shape}" if shape is not None else repr(value)


def _dimensions(size: Any) -> list[int]:
    if isinstance(size, tf.TensorShape):
        return [int(dimension) for dimension in size.as_list()]
    return [int(size)]


def _with_batch(batch_size: Any, size: Any) -> Any:
    dimensions = _dimensions(size)
    if tf.is_tensor(batch_size):
        return tf.stack([tf.cast(batch_size, tf.int32), *dimensions])
    return [int(batch_size), *dimensions]
