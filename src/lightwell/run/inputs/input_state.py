"""`InputState`: what outlives a call of `input_fn`: arrays outside the graph, and iterators that a session starts.

Owns the registry of graphs in which an `input_fn` builds right now. Takes arrays and datasets, returns tensors and
iterators, and records what belongs to them until the `Inputs` of the graph takes it over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.run.inputs.arrays import Array, ArraySlot, tensor_of

v1 = tf.compat.v1
# An iterator and its dataset.
Source = tuple[Any, tf.data.Dataset]


@dataclass(frozen=True, eq=False)
class InputState:
    """The arrays and iterators of one call of an `input_fn`, in order of creation.

    Attributes:
        arrays: the slots of the arrays that became tensors.
        sources: the iterators that Lightwell starts.
    """

    arrays: list[ArraySlot] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)

    def tensor(self, array: Array, dtype: tf.DType, name: str) -> Any:
        """A tensor with the array's values, which stay outside the graph."""
        tensor, slot = tensor_of(array, dtype, name)
        self.arrays.append(slot)
        return tensor

    def iterator(self, dataset: tf.data.Dataset) -> Any:
        """An iterator that starts with the session, and again when a session serves a later call."""
        iterator = v1.data.make_initializable_iterator(dataset)
        self.sources.append((iterator, dataset))
        return iterator


@contextlib.contextmanager
def collect_input_state(graph: tf.Graph) -> Iterator[InputState]:
    """Collects the arrays and iterators of the `input_fn` that builds in `graph`."""
    _building[graph] = state = InputState()
    try:
        yield state
    finally:
        del _building[graph]


def current_input_state() -> InputState | None:
    """The state of the current graph; None inside a map function and outside of an `input_fn`."""
    return _building.get(v1.get_default_graph())


_building: dict[tf.Graph, InputState] = {}
