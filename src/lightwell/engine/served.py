"""A SavedModel's graph as a server runs it: loaded, called by signature, frozen.

Owns its graph and session. Takes the files of a SavedModel; gives arrays, or a graph without variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.log import without_deprecations

v1 = tf.compat.v1
_INIT_OPS = ("saved_model_main_op", "legacy_init_op")


class Served:
    """A loaded graph. It is a context manager; leaving it frees the session.

    Args:
        meta_graph: the graph, as a SavedModel has it.
        weights: the prefix of its weights.
        assets: the name of a tensor that holds a file's path, to where the file is.
    """

    def __init__(self, meta_graph: Any, weights: str, assets: Mapping[str, str]) -> None:
        self._meta_graph = meta_graph
        self._graph = tf.Graph()
        self._session = v1.Session(graph=self._graph)
        with self._graph.as_default():
            saver = v1.train.import_meta_graph(meta_graph, clear_devices=True)
            if saver is not None and tf.io.gfile.exists(f"{weights}.index"):
                saver.restore(self._session, weights)
            main = [op for name in _INIT_OPS for op in self._graph.get_collection(name)]
            self._session.run([main, v1.local_variables_initializer(), v1.tables_initializer()], assets or None)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *error: object) -> None:
        self._session.close()

    def call(self, signature: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
        """What a signature gives for arrays."""
        named = self._meta_graph.signature_def[signature]
        feeds = {info.name: arrays[name] for name, info in named.inputs.items()}
        outputs: dict[str, Any] = self._session.run(
            {name: info.name for name, info in named.outputs.items()}, feed_dict=feeds
        )
        return outputs

    def frozen(self, signature: str) -> Any:
        """The part of the graph that a signature runs, its variables made constants."""
        outputs = [info.name.partition(":")[0] for info in self._meta_graph.signature_def[signature].outputs.values()]
        with without_deprecations():
            return v1.graph_util.convert_variables_to_constants(
                self._session, self._graph.as_graph_def(add_shapes=True), outputs
            )
