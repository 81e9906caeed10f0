"""Arrays outside the graph: each lives in a slot, and one op yields it whenever it runs, without a feed.

So an iterator's initialiser may be run by anybody, any number of times. The graph knows neither the values of an array
nor its number of rows, and a slot can take another array: a session serves a later call whose graph is the same.

A slot has a copy of its own, taken while `input_fn` runs: what the program writes into its array afterwards changes
nothing. Arrays that nobody can write to are not copied: a file mapped read-only (`np.load(path, mmap_mode="r")`,
`np.memmap(path, mode="r")`) stays on disk; one mapped writable, which is NumPy's default mode, is read into memory.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.run.inputs.memory import memory_of

Array = np.ndarray[Any, Any]

# TensorFlow uses memory as it is where it starts at a multiple of this, and copies it otherwise, at each run of the op.
_ALIGNMENT = 64
TEXT = "UST"  # NumPy's kinds of text: of fixed length, bytes, of any length


class ArraySlot:
    """An array and the op that yields it.

    The graph refers to the slot weakly: it lives as long as the `Inputs` it belongs to, so that its memory is free when
    a run is over, and not when Python's collector next visits the graph.

    Attributes:
        name: the op's name.
        array: what the op yields; None once it is freed.
    """

    def __init__(self, array: Array) -> None:
        self.name = ""
        self.array: Array | None = array
        self._taken_by: weakref.ref[ArraySlot] | None = None

    def __len__(self) -> int:
        """The number of rows."""
        return 0 if self.array is None else len(self.array)

    def take_from(self, other: ArraySlot) -> None:
        """Yields the array of another slot from now on, which then has none; taking it again changes nothing."""
        if other is self or (other._taken_by is not None and other._taken_by() is self):
            return
        self.array, other.array, other._taken_by = other.array, None, weakref.ref(self)

    def free(self) -> None:
        """Frees the memory; the op cannot run after this."""
        self.array = None


def tensor_of(array: Array, dtype: tf.DType, name: str) -> tuple[Any, ArraySlot]:
    """A tensor with the array's values, the output of exactly one op, as a constant is.

    Its static shape is that of the array; the op in the graph does not know it.
    """
    slot = ArraySlot(own_copy(array, dtype))
    slot_ref = weakref.ref(slot)

    def present() -> Array:
        live_slot = slot_ref()
        if live_slot is None or live_slot.array is None:
            raise RuntimeError(
                "The arrays of this input_fn are gone: they are kept for the run that called it, which is over. Make "
                "the dataset again, in a graph of your own."
            )
        return live_slot.array

    with tf.device("/cpu:0"):
        tensor = tf.numpy_function(present, [], dtype, name=name)
    tensor.set_shape(array.shape)
    slot.name = tensor.op.name
    return tensor, slot


def permanent_tensor_of(array: Array, dtype: tf.DType) -> Any:
    """The same in a graph that is not ours, which holds the array as long as it lives; inside a function, too."""
    own = own_copy(array, dtype)
    with tf.device("/cpu:0"):
        tensor = tf.numpy_function(lambda: own, [], dtype)
    tensor.set_shape(array.shape)
    return tensor


def typed(value: Any) -> tuple[Array, tf.DType] | None:
    """An array with the type that TensorFlow has for it; None for what is no array, or is TensorFlow's to refuse."""
    if hasattr(value, "to_numpy") and not tf.is_tensor(value):  # pandas, polars
        value = np.asarray(value)
    if not isinstance(value, np.ndarray):
        return None
    array = np.asarray(value)  # without a subclass's own ways
    if array.dtype == object or array.dtype.kind in TEXT:
        are_strings = array.dtype != object or all(isinstance(one, str | bytes) for one in array.flat)
        return (array, tf.string) if are_strings else None
    try:
        return array, tf.as_dtype(array.dtype)
    except TypeError:
        return None


def own_copy(array: Array, dtype: tf.DType) -> Array:
    """The array as TensorFlow can use it without a copy of its own, and as nobody else can change it."""
    if dtype == tf.string:
        return array.astype(object)  # of references to strings, which never change
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    fits = array.dtype == numpy_dtype and array.flags.c_contiguous and array.ctypes.data % _ALIGNMENT == 0
    if fits and _nobody_can_write(array):
        return np.asarray(array)
    copy = aligned(array.shape, numpy_dtype)
    np.copyto(copy, array, casting="unsafe")
    return copy


def aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An uninitialised array, at an address from which TensorFlow need not copy it."""
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = memory_of(size + _ALIGNMENT)
    start = -memory.ctypes.data % _ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def _nobody_can_write(array: Array) -> bool:
    """Whether the memory behind an array belongs to something that cannot change: bytes, a file mapped read-only.

    That an array is marked read-only says little: it may be a view of one that is not, or have views that are not.
    """
    behind: Any = array
    while isinstance(behind, np.ndarray):
        if behind.flags.writeable or behind.flags.owndata:
            return False
        behind = behind.base
    try:
        return memoryview(behind).readonly
    except TypeError:
        return False
