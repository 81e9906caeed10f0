"""`ProgramKey`: when two programs are the same, so that an open session of one serves the other.

The key covers the graph, the functions in it whatever TensorFlow named them, and the content of the files that tables
are filled from. The arrays of the input are not part of it: each run supplies its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.run.engine.fetches import fold_structure
from lightwell.run.engine.graph_digest import NodeDigests
from lightwell.run.inputs.unpack import Inputs, leaves_of
from lightwell.run.loops.task import StepSettings

_Keys = tf.compat.v1.GraphKeys
_RESET = (_Keys.GLOBAL_VARIABLES, _Keys.LOCAL_VARIABLES, _Keys.TABLE_INITIALIZERS)


@dataclass(frozen=True)
class ProgramKey:
    """What tells one program from another: a session of one serves the other if their keys are equal.

    Attributes:
        graph: a digest of the graph, of the structure of its input, and of what is initialised with it.
        files: a digest of the content of the files that its tables are filled from.
        mode: a `ModeKeys` value.
        fetches: what is computed: names of tensors and ops, or the taps from which those follow.
        devices: a session configuration, serialised.
        settings: how its steps are run.
        is_of_input: whether the graph is that of the input alone, and the user vouches for the model.
    """

    graph: bytes
    files: bytes
    mode: str
    fetches: Hashable
    devices: bytes
    settings: StepSettings
    is_of_input: bool = False


def program_key(
    graph: tf.Graph,
    inputs: Inputs,
    mode: str,
    fetches: Hashable,
    session_config: Any,
    settings: StepSettings,
    *,
    is_of_input: bool = False,
) -> ProgramKey | None:
    """The key of a program; None if a file of a table cannot be read, or the input is no tensor.

    Args:
        graph: its graph, with all that observers added.
        inputs: its input.
        mode: a `ModeKeys` value.
        fetches: what is computed.
        session_config: a `tf.compat.v1.ConfigProto`, or None.
        settings: how its steps are run.
        is_of_input: whether the graph is that of the input alone.
    """
    files = digest_of_files(graph)
    leaves = [leaf for value in (inputs.features, inputs.labels) if value is not None for leaf in leaves_of(value)]
    if files is None or not all(tf.is_tensor(leaf) for leaf in leaves):  # the graph does not show other objects
        return None
    array_ops = [slot.name for slot in inputs.arrays]
    names = [_names(value) for value in (inputs.features, inputs.labels, inputs.initializers)]
    names += [[getattr(member, "name", "") for member in graph.get_collection(key)] for key in _RESET]
    digest = hashlib.blake2b(repr((names, array_ops)).encode())
    graph_def = graph.as_graph_def()
    node_digests = NodeDigests(graph_def.library, frozenset(array_ops))
    for node in graph_def.node:
        digest.update(node_digests.digest(node))
    for gradient in graph_def.library.gradient:
        digest.update(gradient.SerializeToString(deterministic=True))
    devices = b"" if session_config is None else session_config.SerializeToString(deterministic=True)
    return ProgramKey(digest.digest(), files, mode, fetches, devices, settings, is_of_input)


def digest_of_files(graph: tf.Graph) -> bytes | None:
    """A digest of the files that the tables of a graph are filled from; None if one cannot be read."""
    digest = hashlib.blake2b()
    for path in _files_of_tables(graph):
        try:
            with tf.io.gfile.GFile(path, "rb") as file:
                digest.update(file.read())
        except tf.errors.OpError:
            return None
    return digest.digest()


def _names(value: Any) -> Any:
    """A structure with the names of its tensors in their places."""
    return fold_structure(
        value, lambda leaf: [getattr(part, "name", part) for part in tf.nest.flatten(leaf, expand_composites=True)]
    )


def _files_of_tables(graph: tf.Graph) -> list[str]:
    names = [op.inputs[1] for op in graph.get_operations() if op.type == "InitializeTableFromTextFileV2"]
    known = [tf.get_static_value(name) for name in names]
    return [name.item().decode() if name is not None else "" for name in known]
