"""`Task`: what a run does in each step of a program. Train, evaluate and predict differ in their task and hooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class StepSettings(NamedTuple):
    """How steps are run: `RunConfig.fuse_steps` and `RunConfig.jit_compile`."""

    fuse_steps: Any = None
    jit_compile: Any = False


@dataclass(frozen=True, eq=False)
class Task:
    """The ops that each step runs, and the values that it returns.

    Attributes:
        run: ops to run.
        original: the fetches of the caller, as hooks see them.
        count: the tensor with the global step once a step has run; None where batches are counted.
        loss: the loss that is watched for NaN, if any.
        outputs: a structure of tensors whose values are returned of every step.
        possible_outputs: all that another run of the same program may return of every step.
    """

    run: tuple[Any, ...]
    original: Any
    count: Any = None
    loss: Any = None
    outputs: Any = None
    possible_outputs: Any = None

    @property
    def carried(self) -> list[Any]:
        """Numbers that come with every step: loss and count."""
        return [tensor for tensor in (self.loss, self.count) if tensor is not None]
