"""Cells in the book of layers: which calls are written down, and under which name.

A call of a cell is written down when its outputs can be fetched: not from the body of a loop or branch, whose tensors
live inside it. What `dynamic_rnn` and its kin make of a cell is written down by `sequences.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.layers.record import LayerBook, record_call, recording


@contextlib.contextmanager
def only_fetchable() -> Iterator[None]:
    """Lets those layer calls of the `with` block into the open book whose outputs a session can fetch."""
    with recording(LayerBook()) as seen:
        yield
    for call in seen:
        if is_fetchable(call.outputs):
            record_call(
                name=call.name,
                kind=call.kind,
                inputs=call.inputs,
                outputs=call.outputs,
                variables=call.variables,
                layer=call.layer,
            )


def is_fetchable(values: Any) -> bool:
    """Whether every tensor in `values` is a value of the outer graph, not of a loop's or branch's body."""
    tensors = [value for value in tf.nest.flatten(values) if isinstance(value, tf.Tensor)]
    if not tensors or tf.executing_eagerly():
        return bool(tensors)
    return all(not tensor.graph.building_function and tensor.graph.is_fetchable(tensor) for tensor in tensors)


def record_name(cell: Any, scope: str) -> str:
    """A cell's name in the book: the scope of its variables. Wrappers count as the cell they wrap.

    A cell that overrides `__call__` keeps no scope; it is called by its class, as its variables usually are.
    """
    while hasattr(cell, "wrapped_cell"):
        cell = cell.wrapped_cell
    try:
        return str(cell.scope_name)
    except (UsageError, AttributeError):
        return "/".join(filter(None, (scope, type(cell).__name__)))
