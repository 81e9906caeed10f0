"""Garbage collection of unused graphs.

The parts of a graph refer to each other, so only Python's collector frees them, and in a process of TensorFlow's size
its next full collection may come a hundred graphs later. A full collection takes a quarter of a second, less than
building and training some thousand ops, so it runs once that many ops are unused. A collection of young objects takes a
millisecond and frees a small graph of the previous call.
"""

from __future__ import annotations

import gc
import threading
import weakref

import tensorflow as tf

_OPS_WORTH_COLLECTING = 2000


class _GraphTracker:
    """The graphs created since the last full collection that are still alive."""

    def __init__(self) -> None:
        self._graphs: list[weakref.ref[tf.Graph]] = []
        self._lock = threading.RLock()  # a finalizer that runs during collection may build a graph

    def track(self, graph: tf.Graph) -> None:
        with self._lock:
            if self._ops() > _OPS_WORTH_COLLECTING:
                gc.collect()
                self._graphs = []  # the rest is in use, by a warm session for example: collecting again frees nothing
            self._graphs = [known for known in self._graphs if known() is not None] + [weakref.ref(graph)]

    def _ops(self) -> int:
        graphs = (known() for known in self._graphs)
        return sum(len(graph.get_operations()) for graph in graphs if graph is not None)


_tracker = _GraphTracker()  # one per process, like the collector


def track(graph: tf.Graph) -> None:
    """Registers a new graph; collects old ones if they hold enough ops."""
    _tracker.track(graph)


def collect() -> None:
    """Collects young objects. Call it before building a graph: what is alive then stops being young."""
    gc.collect(1)
