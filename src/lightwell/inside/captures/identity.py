"""What a capture is of, as digests: the checkpoint, the program that computes the tapped values, and the input.

Two captures of equal identity hold the same rows, as far as can be known without running them:

- `checkpoint`: the content of its index, which has a checksum of every value.
- `program`: all ops between the input and the tapped values, with the functions that they call.
- `input`: the ops that `input_fn` made, and the structure of what it gave. Files are known by name alone, and of Python
  inside the pipeline (`from_generator`, `py_function`) nothing is known. So whoever goes on with a capture compares
  rows as well.
- `arrays`: the content of the arrays of the input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.inside.captures.kinds import Array
from lightwell.run.engine.fetches import fold_structure
from lightwell.run.engine.graph_digest import NodeDigests
from lightwell.run.inputs.unpack import Inputs


def digest_of_checkpoint(prefix: str | None) -> str:
    """Tells the values of a checkpoint; empty for initial weights, which are other ones each time."""
    if prefix is None:
        return ""
    with tf.io.gfile.GFile(f"{prefix}.index", "rb") as file:
        return _hex(hashlib.blake2b(file.read(), digest_size=16))


def digest_of_input(graph: tf.Graph, inputs: Inputs) -> str:
    """Tells the input of a graph that holds nothing else yet, but for the content of its arrays."""
    digest = hashlib.blake2b(digest_size=16)
    graph_def = graph.as_graph_def()
    node_digests = NodeDigests(graph_def.library, across_processes=True)
    for node in graph_def.node:
        digest.update(node_digests.digest(node))
    digest.update(repr([_names(inputs.features), _names(inputs.labels)]).encode())
    return _hex(digest)


def digest_of_arrays(arrays: Sequence[Array | None]) -> str:
    """Tells the arrays of an input."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(_digest_of_array(array))
    return _hex(digest)


def digest_of_program(graph: tf.Graph, tapped: Iterable[Any], of_input: frozenset[str]) -> str:
    """Tells how tapped values are computed from the input.

    Args:
        graph: the graph.
        tapped: the tensors.
        of_input: the names of the ops that `input_fn` made.
    """
    tensors = [tensor for value in tapped for tensor in tf.nest.flatten(value, expand_composites=True)]
    seen: dict[str, Any] = {}
    left = [tensor.op for tensor in tensors]
    while left:
        op = left.pop()
        if op.name not in seen and op.name not in of_input:
            seen[op.name] = op.node_def
            left += [*(tensor.op for tensor in op.inputs), *op.control_inputs]
    node_digests = NodeDigests(graph.as_graph_def().library, across_processes=True)
    digest = hashlib.blake2b(repr([tensor.name for tensor in tensors]).encode(), digest_size=16)
    for name in sorted(seen):
        digest.update(node_digests.digest(seen[name]))
    return _hex(digest)


def _digest_of_array(array: Array | None) -> bytes:
    import xxhash

    digest = hashlib.blake2b(digest_size=16)
    if array is None:
        return digest.digest()
    digest.update(f"{array.dtype.str} {array.shape}".encode())
    if array.dtype == object:
        texts = [one if isinstance(one, bytes) else str(one).encode() for one in array.flat]
        ends = np.fromiter(map(len, texts), np.int64, len(texts))
        digest.update(xxhash.xxh3_128_digest(ends.data) + xxhash.xxh3_128_digest(b"".join(texts)))
        return digest.digest()
    digest.update(xxhash.xxh3_128_digest(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data))
    return digest.digest()


def _names(value: Any) -> Any:
    """A structure with the names of its tensors in their places."""
    return fold_structure(value, _leaf_names, _listed)


def _leaf_names(leaf: Any) -> list[str]:
    return [getattr(part, "name", type(part).__name__) for part in tf.nest.flatten(leaf, expand_composites=True)]


def _listed(kind: type, parts: Sequence[Any]) -> list[Any]:
    return [(str(key), part) for key, part in parts] if issubclass(kind, Mapping) else list(parts)


def _hex(digest: Any) -> str:
    return str(digest.hexdigest())
