"""`Task`: what a run does with each step of a program. Train, evaluate and predict differ in this, and in who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lightwell.engine.program import Program


@dataclass(frozen=True, eq=False)
class Task:
    """What is run and handed back of each step.

    Attributes:
        run: ops to run.
        original: what hooks are shown as the fetches of the caller.
        count: the tensor with the global step once a step has run; None where batches are counted.
        loss: the loss that is watched for NaN, if any.
        keep: a structure of tensors whose values are handed back of every step.
        may_keep: more than `keep`: all that another run of the same program may want to be handed back.
    """

    run: tuple[Any, ...]
    original: Any
    count: Any = None
    loss: Any = None
    keep: Any = None
    may_keep: Any = None

    @property
    def carried(self) -> list[Any]:
        """Numbers that come with every step: loss and count."""
        return [tensor for tensor in (self.loss, self.count) if tensor is not None]


def task_of_training(program: Program) -> Task:
    """Steps of a training: the counter and the loss come with each."""
    spec = program.spec
    return Task((spec.train_op,), [spec.train_op, spec.loss], program.step_after, spec.loss)


def task_of_evaluation(program: Program) -> Task:
    """Batches that go into the metrics."""
    update = None if program.evaluation is None else program.evaluation.update
    return Task((update,), [update])
