"""What cannot be compiled, and why: checked once before a run starts, for a step that can be fused.

This checks what XLA does not report: where it computes something else than TensorFlow does (random numbers, checks that
it drops), and what must stay outside of the compiled loop. Whether XLA has a form of every op shows at the first call.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.run.devices.gpus import AUTO_BY_DEFAULT
from lightwell.run.loops.effects import Effects
from lightwell.run.loops.fusible import functions_called, functions_of, is_random, within
from lightwell.run.loops.host_part import HostPart, names_reached
from lightwell.run.loops.loop import can_be_joined
from lightwell.run.loops.step_copy import has_functions, step_ops

_PYTHON = frozenset("PyFunc PyFuncStateless EagerPyFunc".split())
_LEFT_OUT = frozenset("Assert CheckNumerics CheckNumericsV2 Print PrintV2".split())
_PRIMITIVES = frozenset("Enter RefEnter Switch RefSwitch Merge RefMerge".split())


def why_not_compiled(graph: tf.Graph, targets: Sequence[Any], part: HostPart, jit_compile: Any) -> str | None:
    """The reason why these steps, which can be fused, are not compiled; None if they may be.

    Args:
        graph: the program's graph.
        targets: all that a call of many steps computes.
        part: its host part.
        jit_compile: `RunConfig.jit_compile`.
    """
    if not part.outputs:
        return "the input is no dataset"
    for tensor in part.outputs:
        if tensor.dtype in (tf.string, tf.variant, tf.resource):
            return f"the input has values of type {tensor.dtype.name} ({tensor.name}), which XLA does not know"
        if not can_be_joined(tensor):
            return f"{tensor.name} of the input may have another shape at each step ({tensor.shape})"
    inside, outside = step_ops(targets, part.ops)
    names = {op.name for op in inside}
    inside = [op for op in graph.get_operations() if op.name in names]  # an op before its gradient
    for op in inside:
        reason = None if _is_for(op, part.of_shapes) else _reason(op, jit_compile)
        if reason is not None:
            return reason
    for op in outside:
        if op.name not in part.ops and op.outputs and op.outputs[0].dtype == tf.resource and op.type != "VarHandleOp":
            return f"{op.name} ({op.type}) is no variable, and XLA knows no other resources"
    for op, node in _called(graph, inside):
        if node.op in _PYTHON | _LEFT_OUT or (is_random(node.op) and jit_compile is not True):
            return f"{op.name} calls a function with {node.op}, which XLA would not do as TensorFlow does"
    return _acts_without_batch(graph, inside, part)


def _acts_without_batch(graph: tf.Graph, ops: Sequence[tf.Operation], part: HostPart) -> str | None:
    """The reason not to compile where an op changes something without waiting for the batch.

    At the end of the data such an op runs once more, in the step that finds no batch: a metric that counts the rows of
    batches of a fixed size counts one batch too many. Compiled steps are run for batches that were read, and no others.
    """
    effects = Effects(graph)
    # XLA refuses what acts on anything but a variable by itself.
    acting = [op for op in ops if any(tensor.dtype == tf.resource for tensor in op.inputs) and effects.may_act(op)]
    if not acting:
        return None
    users: dict[str, list[str]] = {}
    for op in (*ops, *map(graph.get_operation_by_name, part.ops)):
        for source in (*(tensor.op for tensor in op.inputs), *op.control_inputs):
            users.setdefault(source.name, []).append(op.name)
    for name in part.ops:
        if graph.get_operation_by_name(name).type != "IteratorGetNext":
            continue
        waiting = names_reached([name], users)
        early = next((op for op in acting if op.name not in waiting), None)
        if early is not None:
            return f"{early.name} ({early.type}) does not wait for the batch, and runs once more at the end of the data"
    return None


def _is_for(op: tf.Operation, checks: frozenset[str]) -> bool:
    """Whether an op is one of these checks, or a text that only they may show."""
    if op.type != "Const":
        return op.name in checks
    return all(user.name in checks for tensor in op.outputs for user in tensor.consumers())


def _reason(op: tf.Operation, jit_compile: Any) -> str | None:
    where = f"{op.name} ({op.type})"
    if op.type in _PYTHON:
        return f"{where} calls Python"
    if op.type in _LEFT_OUT:
        return f"{where} would be left out by XLA"
    if op.type.startswith("Collective"):
        return f"{where} waits for other replicas, which a compiled step cannot"
    if op.type in _PRIMITIVES:
        return f"{where} is part of control flow in the older style"
    if any(tensor.dtype == tf.string for tensor in (*op.inputs, *op.outputs)):
        return f"{where} works on strings"
    if is_random(op.type):
        if jit_compile is not True:
            return f"{where} would draw other random numbers"
        warn_once(f"{where} draws other random numbers in compiled steps, and others in every run.")
    return None


def _called(graph: tf.Graph, ops: Sequence[tf.Operation]) -> Iterator[tuple[tf.Operation, Any]]:
    """The nodes of all functions that the ops call."""
    functions: dict[str, Any] = {}
    for op in ops:
        if has_functions(op):
            functions = functions or functions_of(graph)
            for name in functions_called(op.node_def):
                for one in within(functions, name):
                    for node in functions[one].node_def:
                        yield op, node


@functools.cache
def warn_once(line: str, jit_compile: Any = True) -> None:
    """Logs how compiled steps differ, or why there are none; once in a process, at INFO if nobody asked for them."""
    level = logging.INFO if jit_compile == AUTO_BY_DEFAULT else logging.WARNING
    logger.log(level, "RunConfig.jit_compile: %s", line)
