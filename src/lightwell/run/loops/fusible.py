"""What cannot be fused, and why: checked once before a run starts."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.foreign import private_tf
from lightwell.run.loops.pure_ops import PURE_OPS
from lightwell.run.loops.step_copy import has_functions, step_ops

_FIRST_REFERENCE_TYPE = 100  # TensorFlow numbers the reference to type n as 100 + n
_RANDOM = ("Random", "Truncated", "Multinomial", "Parameterized", "CandidateSampler", "StatefulStandardNormal")
# TensorFlow inlines the functions that these ops call, unless the functions have one of these attributes.
_STAYS = ("_noinline", "_XlaMustCompile")
_INLINED = frozenset("PartitionedCall StatefulPartitionedCall If StatelessIf While StatelessWhile Case".split())
# Ops that are known to do in a round of a loop what they do in a single step, and those that only compute. Their state
# is in resources, which both share, or in generators that continue from round to round as from step to step.
_SAFE = (
    PURE_OPS
    | frozenset(
        (
            "VarHandleOp ReadVariableOp VarIsInitializedOp VariableShape AssignVariableOp AssignAddVariableOp "
            "AssignSubVariableOp ResourceGather ResourceGatherNd ResourceCountUpTo ResourceStridedSliceAssign "
            "IteratorGetNext IteratorGetNextSync IteratorGetNextAsOptional Iterator IteratorV2 OneShotIterator "
            "HashTable HashTableV2 MutableHashTableV2 MutableDenseHashTableV2 MutableHashTableOfTensorsV2 "
            "AnonymousHashTable AnonymousMutableHashTable AnonymousMutableDenseHashTable LookupTableFindV2 "
            "LookupTableInsertV2 LookupTableRemoveV2 LookupTableSizeV2 LookupTableExportV2 LookupTableImportV2 "
            "Assert CheckNumerics CheckNumericsV2 Print PrintV2 PyFunc PyFuncStateless EagerPyFunc "
            "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 NonDeterministicInts RngReadAndSkip RngSkip "
            "StatelessRandomGetAlg FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool FractionalMaxPoolGrad "
            "StackV2 StackPushV2 StackPopV2 StackCloseV2 SymbolicGradient StatelessCase "
            "SdcaOptimizer SdcaOptimizerV2 SdcaFprint NearestNeighbors KmeansPlusPlusInitialization "
            "KMC2ChainInitialization GuaranteeConst Empty Timestamp SummaryWriter WriteSummary WriteScalarSummary "
            "CollectiveReduce CollectiveReduceV2 CollectiveGather CollectiveGatherV2 "
            "WriteHistogramSummary WriteImageSummary WriteAudioSummary WriteRawProtoSummary FlushSummaryWriter"
        ).split()
    )
    | _INLINED
)
_SAFE_PREFIXES = (
    *"ResourceApply ResourceSparseApply ResourceScatter TensorArray Stateful CudnnRNN Quantized Uniform".split(),
)


def why_not_fused(
    graph: tf.Graph,
    targets: Sequence[Any],
    unscheduled: Sequence[Any],
    outside_steps: Sequence[Any],
    target: str,
    fuse_steps: Any,
) -> str | None:
    """The reason why this run must go step by step; None if it can be fused.

    Args:
        graph: the program's graph.
        targets: all that a step computes.
        unscheduled: the hooks that must see every step.
        outside_steps: the hooks that may run ops of the model by themselves.
        target: the session's target.
        fuse_steps: `RunConfig.fuse_steps`.
    """
    if fuse_steps is False or fuse_steps is None:
        return "RunConfig.fuse_steps is off"
    if unscheduled:
        return f"the hook {type(unscheduled[0]).__name__} looks at every step"
    if target:
        return f"the session is that of a cluster ({target})"
    if graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
        return "the input comes from queue runners"
    inside, outside = step_ops(targets)
    for op in sorted((*inside, *outside), key=lambda op: len(op.inputs)):  # variables before what is done with them
        if any(tensor.dtype.as_datatype_enum > _FIRST_REFERENCE_TYPE for tensor in op.outputs):
            return f"{op.name} ({op.type}) is a reference variable"
    unknown = _unknown(graph, (*inside, *outside))
    if unknown is not None:
        reason = f"{unknown}, which is not known to do the same in a loop"
        _log_once(reason)
        return reason
    drawing = _find_random_op(graph, inside) if outside_steps else None
    if drawing is not None:
        hook = type(outside_steps[0]).__name__
        return f"{drawing.name} ({drawing.type}) draws random numbers, and the hook {hook} may run it by itself"
    op = find_uninlined_random_op(graph, targets)
    return None if op is None else f"{op.name} ({op.type}) draws random numbers in a function that stays one"


def _unknown(graph: tf.Graph, ops: Sequence[tf.Operation]) -> str | None:
    """The first op that is not known to be safe, also in the functions that are called, at every depth."""
    for op in ops:
        if not _is_safe(op.type) and not (op.outputs and op.outputs[0].dtype == tf.resource):
            return f"{op.name} is of type {op.type}"
    callers = [op for op in ops if has_functions(op)]
    functions = functions_of(graph) if callers else {}
    for op in callers:
        for name in functions_called(op.node_def):
            for node in nodes_within(functions, name):
                if not _is_safe(node.op) and node.op not in functions:
                    return f"{op.name} calls a function with an op of type {node.op}"
    return None


@functools.cache
def _log_once(reason: str) -> None:
    """Logs, once in a process, why steps are slow although the user chose nothing that makes them so."""
    logger.info("Steps run one by one: %s.", reason)


def _is_safe(op_type: str) -> bool:
    return op_type in _SAFE or is_random(op_type) or op_type.startswith(_SAFE_PREFIXES)


def _find_random_op(graph: tf.Graph, ops: Sequence[tf.Operation]) -> tf.Operation | None:
    """An op that draws random numbers, or calls a function that does."""
    callers = [op for op in ops if has_functions(op)]
    functions = functions_of(graph) if callers else {}
    for op in ops:
        if is_random(op.type):
            return op
    for op in callers:
        called = (node for name in functions_called(op.node_def) for node in nodes_within(functions, name))
        if any(is_random(node.op) for node in called):
            return op
    return None


def find_uninlined_random_op(graph: tf.Graph, targets: Sequence[Any]) -> tf.Operation | None:
    """An op that draws random numbers in a function that TensorFlow does not inline.

    Such a function has generators of its own for each set of fetches.
    """
    callers = [op for op in step_ops(targets)[0] if has_functions(op)]
    functions = functions_of(graph) if callers else {}
    for op in callers:
        for name in functions_called(op.node_def):
            own = functions[name]
            stays = op.type not in _INLINED or any(own.attr[key].b for key in _STAYS if key in own.attr)
            nested = [one for one in within(functions, name) if stays or one != name]
            if any(is_random(node.op) for one in nested for node in functions[one].node_def):
                return op
    return None


def is_random(op_type: str) -> bool:
    """Whether ops of a type draw from a generator with state."""
    return any(word in op_type for word in _RANDOM) and private_tf.is_stateful(op_type) is not False


def functions_of(graph: tf.Graph) -> dict[str, Any]:
    """The functions of a graph, by name."""
    return {function.signature.name: function for function in graph.as_graph_def().library.function}


def functions_called(node: Any) -> Iterator[str]:
    """The names of the functions that a node calls, by attribute."""
    for attribute in node.attr.values():
        if attribute.HasField("func"):
            yield attribute.func.name
        yield from (function.name for function in attribute.list.func)


def within(functions: dict[str, Any], name: str) -> set[str]:
    """A function and all that it calls, by name."""
    seen: set[str] = set()
    left = [name]
    while left:
        current = left.pop()
        if current in seen or current not in functions:
            continue
        seen.add(current)
        for node in functions[current].node_def:
            left += [node.op, *functions_called(node)]
    return seen


def nodes_within(functions: dict[str, Any], name: str) -> Iterator[Any]:
    """All nodes of a function's body, and of the functions that it calls."""
    for called in within(functions, name):
        yield from functions[called].node_def
