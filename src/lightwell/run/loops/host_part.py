"""The host part of a step: what only the host can compute, and what that depends on. It runs as a batch is read.

Checks of labels, lookups of words, ops on strings: XLA has none of them. What depends on the batch alone, and on no
variable, need not wait for the previous step. Takes the targets of a step, returns a `HostPart`; the rest of the step
may be compiled.

A check of shapes may need shapes that only the step knows, such as that of the logits. It stays in the step, and its
result is the same for all batches of the same lengths: XLA, which drops it, gets such batches once one has passed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.run.loops.step_copy import has_functions, step_ops

_SHAPES = frozenset("Shape ShapeN Size Rank".split())
_CHECKS = frozenset("Assert CheckNumerics CheckNumericsV2".split())
# Ops with state or effects that may nevertheless run before the previous steps.
_MAY_BE_EARLY = _CHECKS | frozenset("IteratorGetNext LookupTableFindV2 LookupTableSizeV2".split())


@dataclass(frozen=True, eq=False)
class HostPart:
    """The ops that run as a batch is read.

    Attributes:
        ops: names of the ops.
        run: those of them that are run for their effects.
        outputs: their tensors that the rest of the step, or the caller, reads.
        of_shapes: names of the checks that stay in the step, as they look at nothing but shapes.
    """

    ops: frozenset[str]
    run: tuple[tf.Operation, ...]
    outputs: tuple[Any, ...]
    of_shapes: frozenset[str]


def host_part(targets: Sequence[Any]) -> HostPart:
    """Finds the part of a step that the host runs.

    Args:
        targets: all that a step computes.
    """
    inside, _ = step_ops(targets)
    of_shapes = _checks_of_shapes(inside)
    users = _users(inside, lambda op: [*_makers(op), *(one for one in op.control_inputs if one.name not in of_shapes)])
    tied = names_reached((op.name for op in inside if _is_tied(op)), users)
    needed, _ = step_ops([op for op in inside if op.name not in tied and _is_for_host(op)], of_shapes & tied)
    # Results of constants are computed on either side.
    moving = names_reached((op.name for op in needed if op.op_def.is_stateful), users)
    by_host = {op.name: op for op in needed if op.name in moving}
    outputs: dict[str, Any] = {}
    rest, _ = step_ops(targets, by_host)
    for tensor in (*(tensor for op in rest for tensor in op.inputs), *targets):
        if isinstance(tensor, tf.Tensor) and tensor.op.name in by_host:
            outputs[tensor.name] = tensor
    ops = [op for op in targets if isinstance(op, tf.Operation) and op.name in by_host]
    run = {op.name: op for op in (*by_host.values(), *ops) if op.op_def.is_stateful or op in ops}
    return HostPart(frozenset(by_host), tuple(run.values()), tuple(outputs.values()), of_shapes - by_host.keys())


def _is_tied(op: tf.Operation) -> bool:
    """Whether an op has to wait for the step before: it uses a variable, or has a visible effect."""
    if any(tensor.op.type == "VarHandleOp" for tensor in op.inputs):
        return True
    return has_functions(op) or (op.op_def.is_stateful and op.type not in _MAY_BE_EARLY)


def _is_for_host(op: tf.Operation) -> bool:
    return (
        op.type in _CHECKS
        or any(tensor.dtype == tf.resource for tensor in op.inputs)
        or any(tensor.dtype == tf.string for tensor in (*op.inputs, *op.outputs))
    )


def _checks_of_shapes(ops: Sequence[tf.Operation]) -> frozenset[str]:
    users = _users(ops, lambda op: [] if op.type in _SHAPES else _makers(op))
    of_values = names_reached((op.name for op in ops if op.op_def.is_stateful or has_functions(op)), users)
    return frozenset(op.name for op in ops if op.type == "Assert" and op.inputs[0].op.name not in of_values)


def _makers(op: tf.Operation) -> list[tf.Operation]:
    return [tensor.op for tensor in op.inputs]


def _users(
    ops: Sequence[tf.Operation], sources: Callable[[tf.Operation], Sequence[tf.Operation]]
) -> dict[str, list[str]]:
    """By the name of an op, the names of those that it is a source of."""
    users: dict[str, list[str]] = {}
    for op in ops:
        for source in sources(op):
            users.setdefault(source.name, []).append(op.name)
    return users


def names_reached(names: Iterable[str], users: dict[str, list[str]]) -> set[str]:
    """Ops and all that depends on them."""
    seen: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left.extend(users.get(name, ()))
    return seen
