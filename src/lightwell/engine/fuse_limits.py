"""What cannot be fused, and why: asked once before a training starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.engine.fuse_copy import step_ops
from lightwell.engine.program import Program

_FIRST_REFERENCE_TYPE = 100  # TensorFlow numbers the reference to type n as 100 + n


def why_not_fused(program: Program, unscheduled: Sequence[Any], target: str, fuse_steps: Any) -> str | None:
    """The reason why this training must run step by step; None if it can be fused.

    Args:
        program: a training program.
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
    if program.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
        return "the input comes from queue runners"
    return unfit_op([program.spec.train_op, program.spec.loss, program.step_after])


def unfit_op(targets: Sequence[Any]) -> str | None:
    """What is unfit for a loop among the ops that `targets` depend on."""
    inside, outside = step_ops(targets)
    for op in sorted((*inside, *outside), key=lambda op: len(op.inputs)):  # variables before what is done with them
        if any(tensor.dtype.as_datatype_enum > _FIRST_REFERENCE_TYPE for tensor in op.outputs):
            return f"{op.name} ({op.type}) is a reference variable"
    return None
