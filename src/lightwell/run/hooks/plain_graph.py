"""The graph as the model built it, for people and tools: without the copy of the step that fused training adds.

The copy is in the same graph under one name scope, and nothing outside depends on it; so the plain graph is the graph
without that scope, and without the functions that only the copy calls.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf
from google.protobuf import text_format

from lightwell.base.keys import FUSED_SCOPE


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
    called: set[str] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        attributes = node.attr.values()
        names = {
            node.op,
            *(one.func.name for one in attributes),
            *(f.name for one in attributes for f in one.list.func),
        }
        for name in (names & functions.keys()) - called:
            called.add(name)
            left.extend(functions[name].node_def)
    return called


def plain_meta_graph(graph: tf.Graph, graph_def: Any, saver_def: Any) -> Any:
    """The `MetaGraphDef` around a plain graph."""
    return tf.compat.v1.train.export_meta_graph(graph=graph, graph_def=graph_def, saver_def=saver_def)


def text_of(graph_def: Any) -> str:
    """A graph as text, as `graph.pbtxt` has it.

    `str` of a message is written by protobuf's compiled part, and takes a tenth of the time that its printer in Python
    does: for a large model seconds before the first step. But `str` is for people, and some release of protobuf may
    write what cannot be parsed; then the printer is used.
    """
    return str(graph_def) if _str_can_be_read() else text_format.MessageToString(graph_def)


@functools.cache
def _str_can_be_read() -> bool:
    sample = tf.compat.v1.GraphDef()
    value = sample.node.add(name="scope/name", op="Const").attr["value"].tensor
    value.string_val.append(b'a "quoted" \xff\x00\n line')
    value.float_val.extend([0.1, 1e-30, float("inf")])
    value.int64_val.append(-(2**62))
    sample.library.function.add().signature.name = "function"
    try:
        return bool(text_format.Parse(str(sample), tf.compat.v1.GraphDef()) == sample)
    except text_format.ParseError:
        return False
