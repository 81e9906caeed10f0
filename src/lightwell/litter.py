"""Graphs that are done with. Their parts refer to each other, so Python frees them only when its collector next goes
through all objects, which in a process of TensorFlow's size can be a hundred graphs later. This sends it earlier.

Takes each graph of a model as it is made; gives nothing. To go through all objects takes a quarter of a second, less
than building and training some thousand ops, so it is done only once that many lie about. To go through the young ones
takes a millisecond, and frees the graph of the call before if it is small enough to be young still.
"""

from __future__ import annotations

import gc
import threading
import weakref

import tensorflow as tf

_OPS_WORTH_COLLECTING = 2000


class _Litter:
    """The graphs that were made since the collector was last sent through all objects, and are still there."""

    def __init__(self) -> None:
        self._made: list[weakref.ref[tf.Graph]] = []
        self._lock = threading.RLock()  # what is collected may build a graph in its last moments

    def note(self, graph: tf.Graph) -> None:
        with self._lock:
            if self._ops() > _OPS_WORTH_COLLECTING:
                gc.collect()
                self._made = []  # what is left is in use, by a warm session for one: no reason to send it again
            self._made = [made for made in self._made if made() is not None] + [weakref.ref(graph)]

    def _ops(self) -> int:
        graphs = (made() for made in self._made)
        return sum(len(graph.get_operations()) for graph in graphs if graph is not None)


_litter = _Litter()  # one for the process, as there is one collector


def note(graph: tf.Graph) -> None:
    """Tells of a new graph; frees old ones if enough of them lie about."""
    _litter.note(graph)


def sweep() -> None:
    """To be called before anything is made for a new graph: what is alive then is not young any more."""
    gc.collect(1)
