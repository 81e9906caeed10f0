"""By how much a step moves the global step: known before the first one, or not at all.

Hooks act at counts, and steps that nobody looks at run many in a call; both reckon with where the next steps will lead.
That is reckoned only where the graph says it: each step adds one fixed number. A counter that is moved in any other way
(by a variable, on some steps only, by several ops) is read after each step, as TensorFlow's own hooks do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.run.loops.effects import Effects, Use
from lightwell.run.loops.step_copy import step_ops

_READS = ("ReadVariableOp", "VariableV2", "Variable")
_PASSED_ON = ("Identity", "Cast")


def fixed_stride(graph: tf.Graph, count: Any, targets: Sequence[Any]) -> int | None:
    """The number that each step adds to the global step; None where the graph does not tell it, or it is none.

    Args:
        graph: the graph.
        count: the tensor that reads the counter.
        targets: the ops and tensors of a step.
    """
    counter = _counter_of(count)
    if counter is None:
        return None
    inside = {op.name for op in step_ops(targets)[0]}
    effects = Effects(graph)
    writes = [
        op
        for op in counter.consumers()
        if op.name in inside and not (op.type in _PASSED_ON and counter.dtype != tf.resource)
        for place, tensor in enumerate(op.inputs)
        if tensor is counter and effects.use(op, place) >= Use.HANDS_ON
    ]
    if len(writes) != 1:
        return None
    added = _added_by(writes[0], counter)
    return added if added is not None and added > 0 else None


def _counter_of(read: Any) -> Any:
    """What the ops that use the counter take: its handle, or the reference to it."""
    read = _source(read)
    if read.op.type == "ReadVariableOp":
        handle = read.op.inputs[0]
        return handle if handle.op.type == "VarHandleOp" else None
    return read if read.op.type in _READS else None


def _added_by(write: tf.Operation, counter: Any) -> int | None:
    if write.type in ("AssignAddVariableOp", "AssignAdd"):
        return _number(write.inputs[1])
    if write.type not in ("AssignVariableOp", "Assign"):
        return None
    total = _source(write.inputs[1])  # counter.assign(counter + 1)
    if total.op.type not in ("Add", "AddV2"):
        return None
    for term, other in (total.op.inputs, reversed(total.op.inputs)):
        if _source(term).op.type in _READS and _counter_of(term) is counter:
            return _number(other)
    return None


def _source(tensor: Any) -> Any:
    while tensor.op.type in _PASSED_ON:
        tensor = tensor.op.inputs[0]
    return tensor


def _number(tensor: Any) -> int | None:
    value = tf.get_static_value(_source(tensor))
    return None if value is None or value.ndim else int(value)
