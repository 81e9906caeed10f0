"""Explains a NaN loss: searches for the first tensor that is not finite.

The step that went wrong has already changed the weights, and its batch is gone. So bad weights are named, and the
forward pass is repeated on the next batch to find the first op, in order of computation, whose result is not finite
although its inputs are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.run.checkpoints.index import newest_first
from lightwell.run.failures.program_view import ProgramView
from lightwell.run.hooks.finite_weights import non_finite_variables

_NOT_FETCHED = frozenset(["Placeholder", "VarHandleOp", "IteratorGetNext", "ReadVariableOp", "Const", "NoOp"])


def explain_nan(program: ProgramView, session: Any, model_dir: str) -> str:
    """Sentences about the first non-finite value that can be found. Never raises."""
    try:
        bad_weights = list(non_finite_variables(session))
        if not bad_weights:
            return _forward(program, session) or "All weights are finite, and so is the forward pass of the next batch."
        summary = f"Weights are no longer finite: {', '.join(bad_weights[:5])}{' …' if len(bad_weights) > 5 else ''}."
        detail = _forward_from_checkpoint(program, session, model_dir)
        return f"{summary} {detail}" if detail else f"{summary} A lower learning rate or clipped gradients may help."
    except (tf.errors.OpError, ValueError, TypeError, RuntimeError) as error:  # this must not hide the NaN
        return f"(Looking for the first bad tensor failed: {type(error).__name__}.)"


def _forward_from_checkpoint(program: ProgramView, session: Any, model_dir: str) -> str:
    """Restores the newest checkpoint into the session, and checks the next batch with its weights."""
    checkpoint = next(newest_first(model_dir), None)
    if checkpoint is None:
        return ""
    program.spec.scaffold.saver.restore(session, checkpoint)
    detail = _forward(program, session)
    return f"With the weights of {checkpoint.rpartition('/')[2]}: {detail}" if detail else ""


def _forward(program: ProgramView, session: Any) -> str:
    """Runs the forward pass of the loss on the next batch; a sentence about the first bad result, or nothing."""
    tensors = _forward_tensors(program)
    values: dict[str, Any] = {}
    try:
        # One run: all values must be of one batch.
        fetched = session.run(tensors)
    except tf.errors.OutOfRangeError:
        return ""
    values.update(zip((tensor.name for tensor in tensors), fetched, strict=True))
    for tensor in tensors:
        value = values[tensor.name]
        if np.all(np.isfinite(value)):
            continue
        if tensor.op.type == "IteratorGetNext":
            return f"The input itself is not finite: {tensor.name} holds {_kind(value)} (an input of the model)."
        return (
            f"The first bad tensor is {tensor.name!r} (op {tensor.op.type}): it holds {_kind(value)}, computed "
            "from finite "
            f"inputs {[i.name for i in tensor.op.inputs]}."
        )
    return ""


def _forward_tensors(program: ProgramView) -> list[Any]:
    """Float tensors that the loss is computed from, in order of creation, which is an order of computation."""
    needed: set[str] = set()
    left = [program.spec.loss.op]
    while left:
        op = left.pop()
        if op.name not in needed:
            needed.add(op.name)
            left.extend(tensor.op for tensor in op.inputs)
    return [
        tensor
        for op in program.graph.get_operations()
        if op.name in needed and (op.type == "IteratorGetNext" or op.type not in _NOT_FETCHED)
        if program.graph.is_fetchable(op)  # the inside of a loop or a conditional is not
        for tensor in op.outputs
        if tensor.dtype.is_floating
    ]


def _kind(value: Any) -> str:
    array = np.asarray(value)
    parts = [(int(np.isnan(array).sum()), "NaN"), (int(np.isinf(array).sum()), "infinite")]
    return " and ".join(f"{count} {name}" for count, name in parts if count) + f" of {array.size} values"
