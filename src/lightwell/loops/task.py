"""`Task`: what a run does with each step of a program. Train, evaluate and predict differ in this, and in who looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
