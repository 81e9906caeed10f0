"""Is this input the same as one we have built a model on? Told by its graph.

Two calls of an `input_fn` that build the same ops, up to the names TensorFlow makes up for functions, give the same
batches from the same arrays; arrays themselves are not part of the graph (`inputs/arrays.py`).
"""

from __future__ import annotations

import hashlib
from typing import Any

import tensorflow as tf

from lightwell.engine.build import Draft
from lightwell.inputs.unpack import leaves_of

# What these hold lives outside the graph, or changes from run to run: such an input is built anew each time.
_UNREPEATABLE = ("Random", "Shuffle", "PyFunc", "HashTable", "Generator", "Stage", "Queue", "Stateful")


def fingerprint(draft: Draft) -> bytes | None:
    """A digest of a draft's input; None for an input that must not be used twice."""
    given = leaves_of([draft.inputs.features, *([] if draft.inputs.labels is None else [draft.inputs.labels])])
    if not all(tf.is_tensor(leaf) for leaf in given):  # a number or an object, of which the graph says nothing
        return None
    graph_def = draft.graph.as_graph_def()
    _forget_arrays(graph_def, {slot.name for slot in draft.inputs.arrays})
    nodes = [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]
    if any(word in node.op for node in nodes for word in _UNREPEATABLE):
        return None
    _number_functions(graph_def)
    digest = hashlib.blake2b(graph_def.SerializeToString(deterministic=True))
    digest.update(_structure(draft.inputs.features).encode())
    digest.update(_structure(draft.inputs.labels).encode())
    return digest.digest()


def _forget_arrays(graph_def: Any, names: set[str]) -> None:
    """Makes the ops that yield arrays equal: each is told apart from all others of the process by a token."""
    for node in graph_def.node:
        if node.name in names:
            node.op = "Array"
            del node.attr["token"]


def _structure(value: Any) -> str:
    if value is None:
        return "none"
    return repr(tf.nest.map_structure(_names, value))


def _names(leaf: Any) -> str:
    """A leaf's tensors by name; a sparse or ragged tensor has several."""
    return " ".join(part.name for part in tf.nest.flatten(leaf, expand_composites=True))


def _number_functions(graph_def: Any) -> None:
    """Replaces the names of functions, which count up over a process, by their position."""
    numbered = {function.signature.name: f"f{i}" for i, function in enumerate(graph_def.library.function)}
    for function in graph_def.library.function:
        function.signature.name = numbered[function.signature.name]
        for node in function.node_def:
            _rename(node, numbered)
    for node in graph_def.node:
        _rename(node, numbered)


def _rename(node: Any, numbered: dict[str, str]) -> None:
    node.op = numbered.get(node.op, node.op)
    for attribute in node.attr.values():
        if attribute.HasField("func"):
            attribute.func.name = numbered.get(attribute.func.name, attribute.func.name)
        for function in attribute.list.func:
            function.name = numbered.get(function.name, function.name)
