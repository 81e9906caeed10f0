"""What cannot be fused, and why: asked once before a run starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.loops.step_copy import has_functions, step_ops

_FIRST_REFERENCE_TYPE = 100  # TensorFlow numbers the reference to type n as 100 + n
_RANDOM = ("Random", "Truncated", "Multinomial", "Parameterized", "CandidateSampler", "StatefulStandardNormal")
# What calls functions whose bodies TensorFlow puts in the place of the call, unless they say otherwise.
_STAYS = ("_noinline", "_XlaMustCompile")
_INLINED = frozenset("PartitionedCall StatefulPartitionedCall If StatelessIf While StatelessWhile Case".split())


def why_not_fused(
    graph: tf.Graph, targets: Sequence[Any], unscheduled: Sequence[Any], target: str, fuse_steps: Any
) -> str | None:
    """The reason why this run must go step by step; None if it can be fused.

    Args:
        graph: the program's graph.
        targets: all that a step computes.
        unscheduled: the hooks that must see every step.
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
    apart = draws_apart(graph, targets)
    return None if apart is None else f"{apart.name} ({apart.type}) draws random numbers in a function that stays one"


def draws_apart(graph: tf.Graph, targets: Sequence[Any]) -> tf.Operation | None:
    """An op that draws random numbers in a function which TensorFlow does not put in the place of its call.

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
    """Whether ops of a type go on drawing from where they stand."""
    return any(word in op_type for word in _RANDOM) and _tf.is_stateful(op_type) is not False


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
