"""The numbers of edits, outside of the graph, so that other edits of the same form can use the same graph.

`EditVariables` is for a run: each number is in a variable that every run sets when it starts, from an array that the
next run may replace. `EditPlaceholders` is for calls from many threads: each number is fed with the call. Both remember
how a number follows from its edit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from lightwell.base.keys import OWN_SCOPE
from lightwell.errors import UsageError
from lightwell.inside.edits.base import Array, Numbers
from lightwell.model.layers.record import open_book
from lightwell.run.inputs.arrays import ArraySlot, own_copy, tensor_of
from lightwell.run.inputs.unpack import Inputs

SCOPE = f"{OWN_SCOPE}edits/"
Make = Callable[[Any], Any]


class Holder(Protocol):
    """Storage for the numbers of edits."""

    def of(self, place: int, path: str, edits: Sequence[Any]) -> Numbers:
        """Where the numbers of the edit at `place` stand for one value."""


@dataclass(frozen=True, eq=False)
class _Number:
    """How a number follows from its edit: which one that is, by what function, in which type."""

    place: int
    make: Make
    dtype: tf.DType

    def array(self, edits: Sequence[Any]) -> Array:
        """The number for these edits."""
        array = np.asarray(self.make(edits[self.place]))
        return array if self.dtype == tf.string else array.astype(self.dtype.as_numpy_dtype)


@dataclass(frozen=True, eq=False)
class _Counter:
    """A variable that counts, as a resource handle, and what moves it last in a step."""

    handle: Any
    moves: list[tf.Operation] = dataclasses.field(default_factory=list)


class EditVariables:
    """Numbers in variables of the graph that no saver, initialiser or user meets."""

    def __init__(self) -> None:
        self._tensors: dict[tuple[int, str, str], Any] = {}
        self._numbers: list[_Number] = []
        self._slots: list[ArraySlot] = []
        self._initializers: list[tf.Operation] = []

    def of(self, place: int, path: str, edits: Sequence[Any]) -> Numbers:
        """Where the numbers of the edit at `place` stand for one value."""
        return _Variables(self, place, path, edits)

    def put(self, edits: Sequence[Any]) -> None:
        """Puts the numbers of other edits, of the same forms, in the place of the ones before; the next run starts
        with them."""
        for number, slot in zip(self._numbers, self._slots, strict=True):
            slot.array = own_copy(number.array(edits), number.dtype)

    def with_numbers(self, inputs: Inputs) -> Inputs:
        """The input, with what sets the numbers when a run starts."""
        if not self._initializers:
            return inputs
        return dataclasses.replace(
            inputs,
            initializers=(*inputs.initializers, *self._initializers),
            arrays=(*inputs.arrays, *self._slots),
        )

    def variable(self, place: int, path: str, name: str, make: Make, dtype: Any, edits: Sequence[Any]) -> Any:
        """The variable of a number, as a resource handle, and its shape."""
        key = (place, path, name)
        if key not in self._tensors:
            number = _Number(place, make, dtype)
            array = number.array(edits)
            with tf.init_scope(), tf.name_scope(SCOPE):
                tensor, slot = tensor_of(array, dtype, "number")
                handle = self._handle(dtype, array.shape)
                self._initializers.append(tf.raw_ops.AssignVariableOp(resource=handle, value=tensor))
            self._numbers.append(number)
            self._slots.append(slot)
            self._tensors[key] = (handle, array.shape)
        return self._tensors[key]

    def counter(self, key: tuple[int, str, str]) -> _Counter:
        """A variable that is zero when a run starts."""
        if key not in self._tensors:
            with tf.init_scope(), tf.name_scope(SCOPE):
                handle = self._handle(tf.int64, ())
                zero = tf.constant(0, tf.int64)
                self._initializers.append(tf.raw_ops.AssignVariableOp(resource=handle, value=zero))
            self._tensors[key] = _Counter(handle)
        counter: _Counter = self._tensors[key]
        return counter

    def _handle(self, dtype: Any, shape: Any) -> Any:
        name = f"{SCOPE}kept_{len(self._tensors)}"
        return tf.raw_ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=name, name="kept")


@dataclass(frozen=True, eq=False)
class _Variables:
    """The numbers of one edit at one value, in variables."""

    holder: EditVariables
    place: int
    path: str
    edits: Sequence[Any]

    def hold(self, name: str, make: Make, dtype: Any) -> Any:
        handle, shape = self.holder.variable(self.place, self.path, name, make, dtype, self.edits)
        # One read for all, also for what is built in the body of a loop, and for a replica on another device.
        with tf.init_scope(), tf.name_scope(SCOPE), tf.device(handle.device):
            return tf.ensure_shape(tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype), shape)

    def rows(self, name: str, make: Make, dtype: Any, count: Any) -> Any:
        """The rows are counted over the batches of a run; those of a step go to its replicas in their order."""
        array = self.hold(name, make, dtype)
        counter = self.holder.counter((self.place, self.path, f"{name}/rows"))
        total, edit = int(array.shape[0]), repr(self.edits[self.place])
        message = f"{edit}: the array has {total} rows, and the data set has more examples."
        has_batch = getattr(open_book(), "has_batch", None)
        taken = count if has_batch is None else tf.where(has_batch, count, 0)
        graph = tf.compat.v1.get_default_graph()
        before = [op for op in counter.moves if op.graph is graph]
        with tf.device(counter.handle.device), tf.control_dependencies(before):
            start = tf.raw_ops.ReadVariableOp(resource=counter.handle, dtype=tf.int64)
            enough = tf.debugging.Assert(start + taken <= total, [message])
            with tf.control_dependencies([start, enough]):
                moved = tf.raw_ops.AssignAddVariableOp(resource=counter.handle, value=taken)
        counter.moves[:] = [moved]
        with tf.control_dependencies([moved]):
            if has_batch is not None:  # a replica without a batch of its own gets some rows; nobody sees them
                start = tf.minimum(start, total - count)
            return array[start : start + count]


class EditPlaceholders:
    """Numbers in placeholders, fed with each call.

    Attributes:
        tensors: the placeholders.
    """

    def __init__(self) -> None:
        self.tensors: list[Any] = []
        self._numbers: list[_Number] = []
        self._rows: list[bool] = []
        self._tensors: dict[tuple[int, str, str], Any] = {}

    def of(self, place: int, path: str, edits: Sequence[Any]) -> Numbers:
        """Where the numbers of the edit at `place` stand for one value."""
        return _Placeholders(self, place, path, edits)

    def arrays(self, edits: Sequence[Any], batch: int | None) -> list[Array]:
        """What to feed for these edits.

        Args:
            edits: edits of the forms that the graph was built with.
            batch: how many examples the call has, if that is known.
        """
        arrays = [number.array(edits) for number in self._numbers]
        for number, array, is_rows in zip(self._numbers, arrays, self._rows, strict=True):
            if is_rows and batch is not None and len(array) != batch:
                raise UsageError(
                    f"predictor(edits=...): {edits[number.place]!r} has {len(array)} rows, and the batch {batch}. "
                    "Give one row for each example, or one for all."
                )
        return arrays

    def placeholder(
        self, place: int, path: str, name: str, make: Make, dtype: Any, edits: Sequence[Any], is_rows: bool
    ) -> Any:
        """The placeholder of a number."""
        key = (place, path, name)
        if key not in self._tensors:
            number = _Number(place, make, dtype)
            shape = list(number.array(edits).shape)
            with tf.init_scope(), tf.name_scope(SCOPE):
                tensor = tf.compat.v1.placeholder(dtype, [None, *shape[1:]] if is_rows else shape)
            self.tensors.append(tensor)
            self._numbers.append(number)
            self._rows.append(is_rows)
            self._tensors[key] = tensor
        return self._tensors[key]


@dataclass(frozen=True, eq=False)
class _Placeholders:
    """The numbers of one edit at one value, fed."""

    holder: EditPlaceholders
    place: int
    path: str
    edits: Sequence[Any]

    def hold(self, name: str, make: Make, dtype: Any) -> Any:
        return self.holder.placeholder(self.place, self.path, name, make, dtype, self.edits, is_rows=False)

    def rows(self, name: str, make: Make, dtype: Any, count: Any) -> Any:
        """A call is one batch: its rows are all there are."""
        return self.holder.placeholder(self.place, self.path, name, make, dtype, self.edits, is_rows=True)
