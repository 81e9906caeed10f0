"""May a session that has been used be used again? Only if nothing tells it from a new one.

Takes a program just built; gives a `ProgramKey`, by which an open session of an equal program is found, or None where
only a new session is fresh. It covers the graph (with the functions in it, whatever TensorFlow called them) and the
content of the files that tables are filled from; arrays of the input are no part of it, they are given anew.

What a session keeps from run to run, and what becomes of it:

- local variables, metrics, tables, iterators, what is set when the input starts: initialised anew for each run;
- saved variables: loaded from the checkpoint, again if it changed; a step that writes one makes the session unfit;
- what TensorFlow computed once and keeps with the session: what reads a file, or lists a folder, makes it unfit;
- generators of random ops, mutable tables, queues, whatever else has a state: make it unfit.

So this asks of each op, in the graph and in every function that is called from it, whether it is on a list of those
that compute and no more, or of those whose state is fresh again. An op on neither list opens a new session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.engine.fetches import Fetches
from lightwell.engine.program import Program
from lightwell.inputs.unpack import Inputs, leaves_of
from lightwell.loops.fusible import functions_called, functions_of, nodes_within
from lightwell.loops.pure_ops import PURE_OPS
from lightwell.loops.step_copy import step_ops

_Keys = tf.compat.v1.GraphKeys
_READ_ONLY = frozenset(
    "VarHandleOp ReadVariableOp ResourceGather ResourceGatherNd VariableShape VarIsInitializedOp "
    "LookupTableFindV2 LookupTableSizeV2 Assert CheckNumerics CheckNumericsV2 StatelessRandomGetAlg Empty "
    "Print PrintV2 IteratorGetNext IteratorV2 MakeIterator "
    "PartitionedCall StatefulPartitionedCall If StatelessIf While StatelessWhile Case StatelessCase".split()
)
_RESET = (_Keys.GLOBAL_VARIABLES, _Keys.LOCAL_VARIABLES, _Keys.TABLE_INITIALIZERS)
_WRITES = ("Assign", "Resource")  # AssignVariableOp, AssignAddVariableOp, ResourceScatterAdd, …
_TABLES = frozenset("HashTableV2 InitializeTableV2 InitializeTableFromTextFileV2".split())
# Pipelines are made anew with their iterator. These hold nothing beyond it: no generator, no cache, no caller's code.
_DATASETS = frozenset(
    f"{name}Dataset{version}"
    for name in "TensorSlice Tensor Range Batch PaddedBatch Repeat Take Skip Shard Zip Concatenate Prefetch Map "
    "ParallelMap MapAndBatch Filter FlatMap Interleave ParallelInterleave TFRecord TextLine FixedLengthRecord "
    "ParseExample Options Model Optimize Window Unbatch Rebatch DenseToSparseBatch GroupByWindow TakeWhile Scan "
    "AssertCardinality AssertNext IgnoreErrors".split()
    for version in ("", "V2", "V3", "V4")
)
_FRESH = PURE_OPS | _READ_ONLY | _TABLES | _DATASETS


@dataclass(frozen=True)
class ProgramKey:
    """What tells one program from another: a session of one serves the other if their keys are equal.

    Attributes:
        graph: a digest of the graph, of the structure of its input, and of what is initialised with it.
        files: a digest of the content of the files that its tables are filled from.
        mode: a `ModeKeys` value.
        fetches: what is computed: names of tensors and ops, or the taps from which those follow.
        devices: a session configuration, serialised.
        how: `RunConfig.fuse_steps` and `RunConfig.jit_compile`.
        is_of_input: whether the graph is that of the input alone, and the user vouches for the model.
    """

    graph: bytes
    files: bytes
    mode: str
    fetches: Hashable
    devices: bytes
    how: tuple[Any, Any]
    is_of_input: bool = False


def program_key(
    graph: tf.Graph,
    inputs: Inputs,
    mode: str,
    fetches: Hashable,
    session_config: Any,
    how: tuple[Any, Any],
    *,
    is_of_input: bool = False,
) -> ProgramKey | None:
    """The key of a program; None if a file of a table cannot be read, or something is given that no graph shows.

    Args:
        graph: its graph, with all that observers added.
        inputs: its input.
        mode: a `ModeKeys` value.
        fetches: what is computed.
        session_config: a `tf.compat.v1.ConfigProto`, or None.
        how: `RunConfig.fuse_steps` and `RunConfig.jit_compile`.
        is_of_input: whether the graph is that of the input alone.
    """
    files = digest_of_files(graph)
    given = [leaf for value in (inputs.features, inputs.labels) if value is not None for leaf in leaves_of(value)]
    if files is None or not all(tf.is_tensor(leaf) for leaf in given):  # of an object the graph says nothing
        return None
    graph_def = graph.as_graph_def()
    _forget_names(graph_def, _arrays(inputs))
    digest = hashlib.blake2b(graph_def.SerializeToString(deterministic=True))
    beside = [_names_in(value) for value in (inputs.features, inputs.labels, inputs.initializers)]
    beside += [[getattr(member, "name", "") for member in graph.get_collection(key)] for key in _RESET]
    digest.update(repr((beside, [slot.name for slot in inputs.arrays])).encode())
    devices = b"" if session_config is None else session_config.SerializeToString(deterministic=True)
    return ProgramKey(digest.digest(), files, mode, fetches, devices, how, is_of_input)


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


def input_restarts(graph: tf.Graph, inputs: Inputs) -> bool:
    """Whether the input begins anew, just as at first, once its initialisers are run."""
    source, arrays = list(inputs.initializers), _arrays(inputs)
    return bool(source) and all(
        _restarts(op, arrays, functions) for op, functions in _with_bodies(graph, [*source, *_tensors_in(inputs)])
    )


def is_left_alone(program: Program) -> bool:
    """Whether nothing of the user's own happens in a session of a program beside its steps."""
    graph, spec = program.graph, program.spec
    if spec.evaluation_hooks or spec.prediction_hooks or not _is_plain(spec.scaffold):
        return False
    return not any(graph.get_collection(key) for key in (_Keys.QUEUE_RUNNERS, _Keys.SAVERS, _Keys.LOCAL_INIT_OP))


def may_be_used_again(program: Program, targets: Sequence[Any]) -> bool:
    """Whether a session of a program that is left alone, and has been run, is as good as a new one.

    The answer is the same for all programs with the same key.

    Args:
        program: the program, with all that its observers added.
        targets: all that a run of it computes.
    """
    graph = program.graph
    values = program.evaluation.values if program.evaluation is not None else {}
    fetched = Fetches(graph, {None: values}).elements
    first = [*program.inputs.initializers, *graph.get_collection(_Keys.TABLE_INITIALIZERS)]
    first += [variable.initializer for variable in graph.get_collection(_Keys.LOCAL_VARIABLES)]
    local = _names_of(graph, _Keys.LOCAL_VARIABLES)
    saved = _names_of(graph, _Keys.GLOBAL_VARIABLES)
    local |= _set_with_the_input(program.inputs)
    arrays = _arrays(program.inputs)
    for op, functions in _with_bodies(graph, [*targets, *fetched, *first]):
        if _restarts(op, arrays, functions):
            continue
        if isinstance(op, tf.Operation) and op.type.startswith(_WRITES) and op.inputs[0].op.name in local:
            continue
        return False
    handles = {op.name for op in step_ops([*targets, *fetched])[1] if op.type == "VarHandleOp"}
    return handles <= local | saved


def _names_of(graph: tf.Graph, key: str) -> set[str]:
    """The names of the variables in a collection, those of every replica."""
    return {part.op.name for variable in graph.get_collection(key) for part in _tf.parts_of(variable)}


def _is_plain(scaffold: Any) -> bool:
    """Whether the scaffold is as TensorFlow makes it, with nothing of the program's own in it."""
    names = "init_op ready_op ready_for_local_init_op local_init_op saver init_feed_dict init_fn".split()
    return type(scaffold) is tf.compat.v1.train.Scaffold and all(getattr(scaffold, name) is None for name in names)


def _arrays(inputs: Inputs) -> set[str]:
    """The names of the ops that yield the input's arrays."""
    return {slot.name for slot in inputs.arrays}


def _set_with_the_input(inputs: Inputs) -> set[str]:
    """The names of variables that are given their values when the input starts: numbers of edits."""
    return {op.inputs[0].op.name for op in inputs.initializers if op.type == "AssignVariableOp"}


def _restarts(op: Any, arrays: Collection[str], functions: Collection[str]) -> bool:
    """Whether an op, or the node of a function, has no state that a new session would not have too.

    A call of one of the `functions` has none of its own: their bodies are asked about by themselves.
    """
    if isinstance(op, tf.Operation):
        return op.type in _FRESH or op.name in arrays
    return op.op in _FRESH or op.op in functions


def _with_bodies(graph: tf.Graph, targets: Sequence[Any]) -> Iterator[tuple[Any, Collection[str]]]:
    """The ops behind `targets`, and the nodes of all functions that they call, at every depth; each with the names of
    the functions that a body may call by using their names as types of ops."""
    inside, outside = step_ops(targets)
    ops = [*inside, *outside]
    called = {name for op in ops for name in functions_called(op.node_def)}
    yield from ((op, ()) for op in ops)
    if called:
        functions = functions_of(graph)
        for name in called:
            yield from ((node, functions.keys()) for node in nodes_within(functions, name))


def _tensors_in(inputs: Inputs) -> list[Any]:
    leaves = tf.nest.flatten([*leaves_of([inputs.features, inputs.labels])], expand_composites=True)
    return [leaf for leaf in leaves if isinstance(leaf, tf.Tensor)]


def _names_in(value: Any) -> Any:
    """A structure with the names of its tensors in their places."""
    if isinstance(value, Mapping):
        return type(value), [(key, _names_in(part)) for key, part in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [_names_in(part) for part in value]
    return [getattr(part, "name", part) for part in tf.nest.flatten(value, expand_composites=True)]


def _files_of_tables(graph: tf.Graph) -> list[str]:
    names = [op.inputs[1] for op in graph.get_operations() if op.type == "InitializeTableFromTextFileV2"]
    known = [tf.get_static_value(name) for name in names]
    return [name.item().decode() if name is not None else "" for name in known]


def _forget_names(graph_def: Any, arrays: set[str]) -> None:
    """Replaces what counts up over a process: the names of functions, by their position, and the arrays' tokens."""
    numbered = {function.signature.name: f"f{place}" for place, function in enumerate(graph_def.library.function)}
    for function in graph_def.library.function:
        function.signature.name = numbered[function.signature.name]
        for node in function.node_def:
            _rename(node, numbered)
    for node in graph_def.node:
        if numbered:
            _rename(node, numbered)
        if node.name in arrays:
            node.attr["token"].s = b""


def _rename(node: Any, numbered: dict[str, str]) -> None:
    node.op = numbered.get(node.op, node.op)
    for attribute in node.attr.values():
        if attribute.HasField("func"):
            attribute.func.name = numbered.get(attribute.func.name, attribute.func.name)
        for function in attribute.list.func:
            function.name = numbered.get(function.name, function.name)
