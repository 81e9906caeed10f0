"""A side session: a session on a graph of its own, outside of any run, to work on the files of a model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.run.engine.forked import check_not_forked


@contextlib.contextmanager
def open_side_session(meta_graph: Any = None) -> Iterator[tuple[Any, Any]]:
    """A session, and the saver of its graph, None if it has none. Neither is entered; the graph may still grow.

    Args:
        meta_graph: the graph, or the path of its file; None for an empty one.
    """
    check_not_forked()
    with tf.Graph().as_default() as graph:
        saver = None if meta_graph is None else tf.compat.v1.train.import_meta_graph(meta_graph, clear_devices=True)
    with contextlib.closing(tf.compat.v1.Session(graph=graph)) as session:
        yield session, saver
