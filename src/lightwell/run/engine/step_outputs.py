"""`CallResult`, the result of a session call, and `StepOutputs`, the values of every step that it ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf


class StepOutputs:
    """Values of some elements over the steps of a call.

    Args:
        joined: for each element, its values of all steps joined along the first dimension; numbers are stacked.
        lengths: for each element, how long each step's part is; none for numbers.
        steps: how many steps to use; None for as many as all elements have.

    Attributes:
        steps: the number of steps.
        lengths: as above; empty where the values are of a single step, and of any shape and type.
    """

    def __init__(self, joined: Sequence[Any], lengths: Sequence[Any], steps: int | None = None) -> None:
        counts = [len(own) if len(own) else np.shape(values)[0] for values, own in zip(joined, lengths, strict=True)]
        self.steps = int(min([*counts, *([] if steps is None else [steps])], default=0))
        self._ends = [np.concatenate(([0], np.cumsum(own[: self.steps]))) if len(own) else None for own in lengths]
        self.lengths: Sequence[Any] = [own[: self.steps] for own in lengths]
        self._joined = [
            values[: (self.steps if end is None else end[-1])] for values, end in zip(joined, self._ends, strict=True)
        ]

    @property
    def is_even(self) -> bool:
        """Whether all elements consist of examples, the same number in each step."""
        if not self.lengths:
            return False
        first = self.lengths[0]
        return len(first) > 0 and all(np.array_equal(first, own) for own in self.lengths)

    @property
    def bytes(self) -> int:
        """The size of all values."""
        return sum(values.nbytes for values in self._joined)

    def joined(self) -> Sequence[Any]:
        """The values of all steps in one."""
        return self._joined

    def of_step(self, step: int) -> list[Any]:
        """The values of one step."""
        return [
            values[step] if end is None else values[end[step] : end[step + 1]]
            for values, end in zip(self._joined, self._ends, strict=True)
        ]


class SingleStepOutputs(StepOutputs):
    """The values of a single step, as they were fetched: of any shape and type."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.steps = 1
        self.lengths = ()
        self._joined = list(values)

    @property
    def is_even(self) -> bool:
        return False

    @property
    def bytes(self) -> int:
        return 0

    def of_step(self, step: int) -> list[Any]:
        return list(self._joined)


@dataclass(frozen=True, eq=False)
class CallResult:
    """The result of a session call.

    Attributes:
        steps: how many steps it ran.
        carried: the numbers that come with each step, of the last of them.
        outputs: the task's outputs of each step.
        recorded: by name, the values of each step for hooks that are called later.
        failure: the error that ended the call, after these steps.
        bytes: the size of all values.
        is_compiled: whether the steps were compiled ones.
        prepares: whether it prepared something, so that its duration says nothing about steps.
    """

    steps: int
    carried: Sequence[Any]
    outputs: StepOutputs
    recorded: Sequence[Mapping[str, Any]] = ()
    failure: tf.errors.OpError | None = None
    bytes: int = 0
    is_compiled: bool = False
    prepares: bool = False
