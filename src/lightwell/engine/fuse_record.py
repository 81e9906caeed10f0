"""Recording: values of every step of a fused call, kept row by row, for hooks that look at each step but act on none.

A `Recording` packs the values of a step, per type, into one row of a table (a resource variable), inside the loop and
only in calls that fetch the tables. They outlive the call, so the rows of the steps before a failed one are there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.fuse_copy import StepCopy
from lightwell.keys import FUSED_SCOPE

_MOST_BYTES_A_STEP = 2**20
_MOST_BYTES = 2**24
_MOST_ROWS = 4096


@dataclass(frozen=True)
class _Place:
    """Where a value stands in the row of its type."""

    table: int
    start: int
    stop: int
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Table:
    """All values of one type: a row per step."""

    row: Any
    handle: Any


@dataclass(frozen=True, eq=False)
class Recording:
    """How to read what was recorded.

    Attributes:
        most: how many steps fit.
        tables: fetch them to record, together with the loop's result: a row per step of the call.
        saved: the same, without running the loop: what the last call that recorded left.
    """

    most: int
    tables: list[Any]
    saved: list[Any]
    _places: dict[str, _Place]

    def values(self, tables: Sequence[Any], row: int) -> dict[str, Any]:
        """The values of one step by the tensors' names, from tables that were fetched."""
        return {name: _value(tables[place.table][row], place) for name, place in self._places.items()}


@dataclass(frozen=True, eq=False)
class RecordingPlan:
    """What is to be recorded."""

    _most: int
    _tables: tuple[_Table, ...]
    _places: dict[str, _Place]

    @property
    def rows(self) -> list[Any]:
        """The packed values of a step, to be computed in the loop."""
        return [table.row for table in self._tables]

    def prepare(self) -> list[tf.Operation]:
        """Ops that make the tables, to be run once in a session."""
        return [
            tf.raw_ops.AssignVariableOp(
                resource=table.handle, value=tf.zeros([self._most, table.row.shape[0]], table.row.dtype)
            )
            for table in self._tables
        ]

    def add_to_loop(self, step: StepCopy) -> str:
        """Adds the writing of rows to a loop; returns the output that makes it happen when it is fetched."""
        written = []
        for number, table in enumerate(self._tables):
            inputs = [step.enter(table.handle), step.name(step.PIVOT), step.copied(table.row)]
            kinds = {"dtype": table.row.dtype, "Tindices": tf.int64}
            written.append(step.node(f"record_{number}", "ResourceScatterUpdate", inputs, **kinds))
        return step.loop_variable("recorded", step.constant("recorded/ran", True, tf.bool, after=written), tf.bool)

    def reader(self, done: Any, after: Sequence[Any]) -> Recording:
        """The way to read the rows of a call: as many as the variable `done` says, once `after` has run."""
        with tf.control_dependencies(list(after)):
            tables = [_rows(table, done) for table in self._tables]
        return Recording(self._most, tables, [_rows(table, done) for table in self._tables], self._places)


def can_be_recorded(elements: Sequence[Any]) -> bool:
    """Whether these are tensors of numbers, of fixed shapes, and not too big to keep of every step."""
    if not all(isinstance(element, tf.Tensor) and _is_plain(element) for element in elements):
        return False
    return _bytes_a_step(elements) <= _MOST_BYTES_A_STEP


def plan_recording(tensors: Sequence[Any]) -> RecordingPlan:
    """Plans the recording of tensors of the graph being built; all `can_be_recorded`."""
    most = max(1, min(_MOST_ROWS, _MOST_BYTES // _bytes_a_step(tensors)))
    tables: list[_Table] = []
    places: dict[str, _Place] = {}
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        alike = [tensor for tensor in tensors if tensor.dtype == dtype]
        width = 0
        for tensor in alike:
            size = tensor.shape.num_elements()
            places[tensor.name] = _Place(len(tables), width, width + size, tuple(tensor.shape.as_list()))
            width += size
        tables.append(_table(len(tables), dtype, alike, most, width))
    return RecordingPlan(most, tuple(tables), places)


def _table(number: int, dtype: Any, tensors: Sequence[Any], most: int, width: int) -> _Table:
    row = tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], axis=0, name=f"row_{number}")
    handle = tf.raw_ops.VarHandleOp(
        dtype=dtype, shape=[most, width], shared_name=f"{FUSED_SCOPE}table_{number}", name=f"table_{number}"
    )
    return _Table(row, handle)


def _rows(table: _Table, done: Any) -> Any:
    whole = tf.raw_ops.ReadVariableOp(resource=table.handle, dtype=table.row.dtype)
    return whole[: tf.raw_ops.ReadVariableOp(resource=done, dtype=tf.int64)]


def _value(row: Any, place: _Place) -> Any:
    if not place.shape:
        return row[place.start]
    return np.array(row[place.start : place.stop]).reshape(place.shape)


def _bytes_a_step(tensors: Sequence[Any]) -> int:
    return sum(tensor.shape.num_elements() * tensor.dtype.size for tensor in tensors)


def _is_plain(tensor: Any) -> bool:
    is_number = tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool
    return is_number and tensor.shape.is_fully_defined()
