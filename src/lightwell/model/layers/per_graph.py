"""Objects that belong to a graph while it is built: the book of layers, the Keras trace.

A `PerGraph` is a lookup by the graph that is being built, from any thread, also inside the body of a loop, a branch or
a function. Eager code and code that builds another graph get None.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import tensorflow as tf

_Thing = TypeVar("_Thing")


def replica_number() -> int:
    """The number of the replica that is being built, among those of this process; 0 if there is one, or none."""
    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync <= 1:
        return 0
    # Ids count through all processes, and every process has the same number of replicas.
    here = len(replica.strategy.extended.worker_devices)
    return int(tf.get_static_value(replica.replica_id_in_sync_group) or 0) % here


class PerGraph(Generic[_Thing]):
    """Graph -> the object that is open for it; a graph is referenced only while one is open."""

    def __init__(self) -> None:
        self._open: dict[Any, _Thing] = {}

    @contextlib.contextmanager
    def opened(self, thing: _Thing) -> Iterator[_Thing]:
        """Opens `thing` for the default graph; a nested block of the same graph replaces the outer one."""
        graph = tf.compat.v1.get_default_graph()
        before = self._open.get(graph)
        self._open[graph] = thing
        try:
            yield thing
        finally:
            if before is None:
                del self._open[graph]
            else:
                self._open[graph] = before

    def here(self) -> _Thing | None:
        """The object that is open for the graph being built; None without one, and in eager code."""
        if not self._open or tf.executing_eagerly():
            return None
        graph = tf.compat.v1.get_default_graph()
        while graph is not None:
            thing = self._open.get(graph)
            if thing is not None:
                return thing
            graph = getattr(graph, "outer_graph", None)
        return None
