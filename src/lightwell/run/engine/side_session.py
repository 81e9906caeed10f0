"""A side session: a session on a graph of its own, or of the program's, outside of any run."""

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


def session_of(graph: Any) -> Any:
    """A session of a graph that the program made; the caller closes it, or leaves that to the program's end."""
    return tf.compat.v1.Session(graph=graph)


def values_of(variables: list[Any]) -> list[Any]:
    """The values of variables of a graph, as arrays: in the default session if that has them, else the first ones."""
    if not variables:
        return []
    graph, current = variables[0].graph, tf.compat.v1.get_default_session()
    with graph.as_default():
        reads = [variable.read_value() for variable in variables]
        if current is not None and current.graph is graph:
            known = [tf.compat.v1.is_variable_initialized(variable) for variable in variables]
            if all(current.run(known)):
                return list(current.run(reads))
        with contextlib.closing(session_of(graph)) as session:
            session.run([variable.initializer for variable in variables])
            return list(session.run(reads))
