"""The graph as the model built it, for people and tools: without the copy of the step that fused training adds.

The copy lives in the same graph under one name scope, and nothing outside it depends on it; so the plain graph is what
remains when the scope is left out.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.keys import FUSED_SCOPE


def plain_graph_def(graph: tf.Graph) -> Any:
    """The graph's `GraphDef`, with shapes, without the fused copy of the training step."""
    full = graph.as_graph_def(add_shapes=True)
    if not any(node.name.startswith(FUSED_SCOPE) for node in full.node):
        return full
    plain = tf.compat.v1.GraphDef(versions=full.versions, library=full.library)
    plain.node.extend(node for node in full.node if not node.name.startswith(FUSED_SCOPE))
    return plain


def plain_meta_graph(graph: tf.Graph, graph_def: Any, saver_def: Any) -> Any:
    """The `MetaGraphDef` around a plain graph."""
    return tf.compat.v1.train.export_meta_graph(graph=graph, graph_def=graph_def, saver_def=saver_def)
