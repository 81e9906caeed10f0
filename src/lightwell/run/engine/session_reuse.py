"""May a session that has been used be used again? Only if nothing tells it from a new one.

What a session holds from run to run, and how the next run starts with it:

- local variables, metrics, tables, iterators, values set when the input starts: initialised again for each run;
- saved variables: loaded from the checkpoint, again if it changed; a step that writes one rules the session out;
- what TensorFlow computed once and caches in the session: an op that reads a file or lists a folder rules it out;
- generators of random ops, mutable tables, queues, any other state: rule it out.

Every op, in the graph and in every function called from it, must be on a list of those that only compute, or of those
whose state is reset. An op on neither list opens a new session.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.run.engine.fetches import Fetches
from lightwell.run.engine.program import Program
from lightwell.run.inputs.unpack import Inputs, leaves_of
from lightwell.run.loops.fusible import functions_called, functions_of, nodes_within
from lightwell.run.loops.pure_ops import PURE_OPS
from lightwell.run.loops.step_copy import step_ops

_Keys = tf.compat.v1.GraphKeys
_READ_ONLY = frozenset(
    "VarHandleOp ReadVariableOp ResourceGather ResourceGatherNd VariableShape VarIsInitializedOp "
    "LookupTableFindV2 LookupTableSizeV2 Assert CheckNumerics CheckNumericsV2 StatelessRandomGetAlg Empty "
    "Print PrintV2 IteratorGetNext IteratorV2 MakeIterator "
    "PartitionedCall StatefulPartitionedCall If StatelessIf While StatelessWhile Case StatelessCase".split()
)
_WRITES = ("Assign", "Resource")  # AssignVariableOp, AssignAddVariableOp, ResourceScatterAdd, …
_TABLES = frozenset("HashTableV2 InitializeTableV2 InitializeTableFromTextFileV2".split())
# Pipelines are rebuilt with their iterator. These hold no other state: no generator, no cache, no caller's code.
_DATASETS = frozenset(
    f"{name}Dataset{version}"
    for name in "TensorSlice Tensor Range Batch PaddedBatch Repeat Take Skip Shard Zip Concatenate Prefetch Map "
    "ParallelMap MapAndBatch Filter FlatMap Interleave ParallelInterleave TFRecord TextLine FixedLengthRecord "
    "ParseExample Options Model Optimize Window Unbatch Rebatch DenseToSparseBatch GroupByWindow TakeWhile Scan "
    "AssertCardinality AssertNext IgnoreErrors".split()
    for version in ("", "V2", "V3", "V4")
)
_FRESH = PURE_OPS | _READ_ONLY | _TABLES | _DATASETS


def input_restarts(graph: tf.Graph, inputs: Inputs) -> bool:
    """Whether the input starts again as at first once its initialisers are run."""
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
    return {part.op.name for variable in graph.get_collection(key) for part in private_tf.parts_of(variable)}


def _is_plain(scaffold: Any) -> bool:
    """Whether the scaffold is as TensorFlow makes it, with nothing of the program's own in it."""
    names = "init_op ready_op ready_for_local_init_op local_init_op saver init_feed_dict init_fn".split()
    return type(scaffold) is tf.compat.v1.train.Scaffold and all(getattr(scaffold, name) is None for name in names)


def _arrays(inputs: Inputs) -> set[str]:
    """The names of the ops that yield the input's arrays."""
    return {slot.name for slot in inputs.arrays}


def _set_with_the_input(inputs: Inputs) -> set[str]:
    """The names of variables that are set when the input starts: numbers of edits."""
    return {op.inputs[0].op.name for op in inputs.initializers if op.type == "AssignVariableOp"}


def _restarts(op: Any, arrays: Collection[str], functions: Collection[str]) -> bool:
    """Whether an op, or the node of a function, has no state that a new session would not have too.

    A call of one of the `functions` has none of its own: their bodies are checked separately.
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
