"""Things that belong to a graph while it is built: the book of layers, the trace of Keras.

Owns `PerGraph`. What is opened for a graph is found by whoever builds in it, whichever thread that is, also inside the
body of a loop, a branch or a function, which are graphs of their own with the one around them told. Eager code, and
code that builds another graph, finds nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import tensorflow as tf

_Thing = TypeVar("_Thing")


def replica_number() -> int:
    """Which replica of a strategy is built now, of those in this process; 0 where there is one, and outside of all."""
    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync <= 1:
        return 0
    here = len(replica.strategy.extended.worker_devices)  # each process has as many, and numbers go through them all
    return int(tf.get_static_value(replica.replica_id_in_sync_group) or 0) % here


class PerGraph(Generic[_Thing]):
    """Graph -> the thing that is open for it; a graph is held only as long as something is."""

    def __init__(self) -> None:
        self._open: dict[Any, _Thing] = {}

    @contextlib.contextmanager
    def opened(self, thing: _Thing) -> Iterator[_Thing]:
        """Opens `thing` for the default graph; inside another such block of that graph, in place of the outer thing."""
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
        """What is open for the graph that is built now; None where nothing is, and in eager code."""
        if not self._open or tf.executing_eagerly():
            return None
        graph = tf.compat.v1.get_default_graph()
        while graph is not None:
            found = self._open.get(graph)
            if found is not None:
                return found
            graph = getattr(graph, "outer_graph", None)
        return None
