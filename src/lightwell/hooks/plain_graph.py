"""The graph as the model built it, for people and tools: without the copy of the step that fused training adds.

The copy lives in the same graph under one name scope, and nothing outside it depends on it; so the plain graph is what
remains when the scope is left out, and the functions that only the copy calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.keys import FUSED_SCOPE


def plain_graph_def(graph: tf.Graph) -> Any:
    """The graph's `GraphDef`, with shapes, without the fused copy of the training step."""
    full = graph.as_graph_def(add_shapes=True)
    if not any(node.name.startswith(FUSED_SCOPE) for node in full.node):
        return full
    copies = [node for node in full.node if node.name.startswith(FUSED_SCOPE)]
    own = [node for node in full.node if not node.name.startswith(FUSED_SCOPE)]
    functions = {function.signature.name: function for function in full.library.function}
    surplus = _called(copies, functions) - _called(own, functions)
    plain = tf.compat.v1.GraphDef(versions=full.versions)
    plain.node.extend(own)
    plain.library.CopyFrom(full.library)
    if surplus:
        del plain.library.function[:]
        plain.library.function.extend(one for name, one in functions.items() if name not in surplus)
    return plain


def _called(nodes: Iterable[Any], functions: Mapping[str, Any]) -> set[str]:
    """The names of the functions that nodes call, and of those that these call."""
    found: set[str] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        attributes = node.attr.values()
        names = {
            node.op,
            *(one.func.name for one in attributes),
            *(f.name for one in attributes for f in one.list.func),
        }
        for name in (names & functions.keys()) - found:
            found.add(name)
            left.extend(functions[name].node_def)
    return found


def plain_meta_graph(graph: tf.Graph, graph_def: Any, saver_def: Any) -> Any:
    """The `MetaGraphDef` around a plain graph."""
    return tf.compat.v1.train.export_meta_graph(graph=graph, graph_def=graph_def, saver_def=saver_def)
