"""What an `input_fn` makes that outlives its call: arrays beside the graph, and iterators that a session sets going.

Owns the list of graphs that an `input_fn` builds in right now. Takes arrays and datasets; gives tensors and iterators,
and remembers what belongs to them until the `Inputs` of the graph takes it over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from lightwell.inputs.arrays import Array, ArraySlot, tensor_of

v1 = tf.compat.v1
# An iterator, and the dataset that it goes over.
Source = tuple[Any, tf.data.Dataset]


@dataclass(frozen=True, eq=False)
class Kept:
    """What one call of an `input_fn` made so far, in order.

    Attributes:
        arrays: the slots of the arrays that it made tensors of.
        sources: the iterators that are ours to set going.
    """

    arrays: list[ArraySlot] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)

    def tensor(self, array: Array, dtype: tf.DType, name: str) -> Any:
        """A tensor with the array's values, which stay beside the graph."""
        tensor, slot = tensor_of(array, dtype, name)
        self.arrays.append(slot)
        return tensor

    def iterator(self, dataset: tf.data.Dataset) -> Any:
        """An iterator that is set going with the session, and again by a session that serves a later call."""
        iterator = v1.data.make_initializable_iterator(dataset)
        self.sources.append((iterator, dataset))
        return iterator


@contextlib.contextmanager
def keeping(graph: tf.Graph) -> Iterator[Kept]:
    """Collects what an `input_fn` makes that builds in `graph`."""
    _building[graph] = kept = Kept()
    try:
        yield kept
    finally:
        del _building[graph]


def kept_here() -> Kept | None:
    """Where to keep things; None inside a map function, in another thread's graph, and outside of an `input_fn`."""
    return _building.get(v1.get_default_graph())


_building: dict[tf.Graph, Kept] = {}
