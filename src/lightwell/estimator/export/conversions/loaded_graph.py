"""A SavedModel's graph as a server runs it: loaded, called by signature, frozen."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.log import without_deprecations
from lightwell.run.engine.side_session import open_side_session

v1 = tf.compat.v1
_INIT_OPS = ("saved_model_main_op", "legacy_init_op")


class LoadedGraph:
    """A loaded graph.

    Args:
        meta_graph: the graph, as a SavedModel has it.
        session: a session of it, ready to run.
    """

    def __init__(self, meta_graph: Any, session: Any) -> None:
        self._meta_graph = meta_graph
        self._session = session

    def call(self, signature: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs of a signature for arrays."""
        signature_def = self._meta_graph.signature_def[signature]
        feeds = {info.name: arrays[name] for name, info in signature_def.inputs.items()}
        outputs: dict[str, Any] = self._session.run(
            {name: info.name for name, info in signature_def.outputs.items()}, feed_dict=feeds
        )
        return outputs

    def frozen(self, signature: str) -> Any:
        """The part of the graph that a signature runs, with its variables as constants."""
        outputs = [info.name.partition(":")[0] for info in self._meta_graph.signature_def[signature].outputs.values()]
        with without_deprecations():
            return v1.graph_util.convert_variables_to_constants(
                self._session, self._session.graph.as_graph_def(add_shapes=True), outputs
            )


@contextlib.contextmanager
def loaded_graph(meta_graph: Any, weights: str, assets: Mapping[str, str]) -> Iterator[LoadedGraph]:
    """Loads a graph; leaving the block frees it.

    Args:
        meta_graph: the graph, as a SavedModel has it.
        weights: the prefix of its weights.
        assets: the name of a tensor that holds a file's path, to where the file is.
    """
    with open_side_session(meta_graph) as (session, saver):
        with session.graph.as_default():
            if saver is not None and tf.io.gfile.exists(f"{weights}.index"):
                saver.restore(session, weights)
            main = [op for name in _INIT_OPS for op in session.graph.get_collection(name)]
            session.run([main, v1.local_variables_initializer(), v1.tables_initializer()], assets or None)
        yield LoadedGraph(meta_graph, session)
