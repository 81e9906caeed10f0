"""`CompiledShapes`: for which batch lengths steps are compiled, and whether compiling is worth it.

XLA compiles for fixed shapes. A compiled computation has room for a number of batches, and fewer may use it, so that
not every number of steps needs a computation of its own.
"""

from __future__ import annotations

import math
from typing import Any

from lightwell.base.log import logger
from lightwell.run.devices.gpus import AUTO, AUTO_BY_DEFAULT
from lightwell.run.engine.threads import Trial
from lightwell.run.inputs.pipeline import burst_length

_MOST_SHAPES = 4  # each takes a second or more to compile
_FIRST_STEPS = 4  # per call until compiled steps have proved not to be far slower
_FAR_SLOWER = 2  # times; such steps are not tried again
_SLOW_CALLS = 3  # in a row that decide; fewer may be chance
_LONG = 0.1  # seconds; a shorter call of a few steps is mostly overhead
_WORTH = 3.0  # seconds of steps, before "auto" pays for compiling, which takes one of them and may save a third
_TELLING = 0.1  # seconds of steps that measure one
Sizes = tuple[int, ...]


class CompiledShapes:
    """The compiled shapes of one session's steps.

    Args:
        jit_compile: `RunConfig.jit_compile`.

    Attributes:
        jit_compile: the same.
        is_off: whether XLA cannot compile them.
        room: how many batches one computation has room for; 1 until their size is known.
    """

    def __init__(self, jit_compile: Any) -> None:
        self.jit_compile = jit_compile
        self._is_auto = jit_compile in (AUTO, AUTO_BY_DEFAULT)
        self._checked: set[Sizes] = set()
        self._compiled: set[Sizes] = set()
        self._seconds, self._steps = 0.0, 0
        self._trial = Trial(self._is_auto)
        self._is_sized = self._is_tried = False
        self._slow_calls: list[float] = []  # seconds per step
        self.is_off = False
        self.room = 1

    def is_worthwhile(self, left: float) -> bool:
        """Whether a call should be compiled.

        Args:
            left: how many steps the run has left, which must be worth it; infinite if unknown: then the past ones must.
        """
        if self.is_off or not self._is_auto:
            return not self.is_off
        if not self._trial.is_open or self._is_tried:
            return self._trial.other
        if self._compiled:
            return True
        if math.isinf(left):
            return self._seconds > _WORTH
        return self._seconds > _TELLING and left * self._seconds / self._steps > _WORTH

    def limit_steps(self, most: int) -> int:
        """How many steps a call may have, of at most `most`."""
        return min(most, _FIRST_STEPS) if self._is_auto and not self._is_tried else most

    def set_batch_bytes(self, batch_bytes: int) -> None:
        """Sets the size of a batch; the first one counts."""
        if not self._is_sized:
            self._is_sized = True
            self.room = burst_length(batch_bytes)

    def may_be_used(self, sizes: Sizes, steps: int, may_be_new: bool) -> bool:
        """Whether `steps` batches of these lengths run compiled, in a computation that may be new."""
        if self.is_off or steps > self.room:
            return False
        return sizes in self._compiled or (sizes in self._checked and may_be_new and len(self._compiled) < _MOST_SHAPES)

    def add_checked(self, sizes: Sizes) -> None:
        """Records that batches of these lengths have run op by op, which checks more than XLA does."""
        self._checked.add(sizes)

    def has(self, sizes: Sizes) -> bool:
        """Whether there is a computation for batches of these lengths."""
        return sizes in self._compiled

    def add(self, sizes: Sizes) -> None:
        """Records that a computation has been compiled for batches of these lengths."""
        self._compiled.add(sizes)

    def record_duration(self, is_compiled: bool, steps: int, seconds: float) -> None:
        """Records a call that prepared nothing."""
        if not is_compiled:
            self._seconds, self._steps = self._seconds + seconds, self._steps + steps
        trial = self._trial
        if not trial.is_open or not self._compiled or self.is_off:
            return
        if is_compiled and not self._is_tried:
            usual = self._seconds / self._steps
            self._is_tried = seconds <= max(_LONG, _FAR_SLOWER * steps * usual)
            if not self._is_tried:
                self._slow_calls.append(seconds / steps)
            if len(self._slow_calls) == _SLOW_CALLS:
                trial.best, trial.is_open = {False: usual, True: min(self._slow_calls)}, False
        elif is_compiled == trial.other:
            trial.record_duration(steps, seconds)
        if not trial.is_open:
            line = "Steps go on %s: %.3f ms each, %.3f ms as compiled ones."
            logger.info(line, "compiled" if trial.other else "uncompiled", *(1e3 * one for one in trial.best.values()))
