"""`Forms`: for batches of which lengths steps have been compiled, and whether it is worth it.

XLA compiles for fixed shapes. So that not every number of steps is a form of its own, a form has room for so many
batches, and fewer may be gone over with it.
"""

from __future__ import annotations

import math
from typing import Any

from lightwell.engine.threads import Trial
from lightwell.inputs.pipeline import MOST_AT_ONCE, MOST_BYTES_AT_ONCE
from lightwell.log import logger

_MOST_FORMS = 4  # each takes a second or more to make
_FIRST_STEPS = 4  # of calls before it is known that compiled steps are not far slower
_FAR_SLOWER = 2  # times; what takes so long is tried no further
_LONG = 0.1  # seconds; in a shorter call of a few steps, what is around them is most of it
_WORTH = 3.0  # seconds of steps, before "auto" pays for compiling, which takes one of them and may save a third
_TELLING = 0.1  # seconds of steps that tell how long one takes
Sizes = tuple[int, ...]


class Forms:
    """The compiled forms of one session's steps.

    Args:
        jit_compile: `RunConfig.jit_compile`.

    Attributes:
        is_off: whether XLA cannot compile them.
        room: for how many batches there is room in a form; 1 until it is known how big they are.
    """

    def __init__(self, jit_compile: Any) -> None:
        self._is_auto = jit_compile == "auto"
        self._passed: set[Sizes] = set()
        self._made: set[Sizes] = set()
        self._seconds, self._steps = 0.0, 0
        self._trial = Trial(self._is_auto)
        self._is_sized = self._is_tried = False
        self._slow_calls = 0
        self.is_off = False
        self.room = 1

    def is_wanted(self, left: float) -> bool:
        """Whether a call shall be compiled.

        Args:
            left: how many steps the run has left: those must be worth it. Infinite where nobody knows: then those that
                have been must.
        """
        if self.is_off or not self._is_auto:
            return not self.is_off
        if not self._trial.is_open or self._is_tried:
            return self._trial.other
        if self._made:
            return True
        if math.isinf(left):
            return self._seconds > _WORTH
        return self._seconds > _TELLING and left * self._seconds / self._steps > _WORTH

    def steps_of(self, asked: int) -> int:
        """How many of the steps asked for a call may have."""
        return min(asked, _FIRST_STEPS) if self._is_auto and not self._is_tried else asked

    def sized(self, batch_bytes: int) -> None:
        """Takes in how big a batch is; the first one counts."""
        if not self._is_sized:
            self._is_sized = True
            self.room = max(1, min(MOST_AT_ONCE, MOST_BYTES_AT_ONCE // max(batch_bytes, 1)))

    def may_be_used(self, sizes: Sizes, steps: int, may_be_new: bool) -> bool:
        """Whether so many batches of these lengths go over in a form, be it in one yet to be made."""
        if self.is_off or steps > self.room:
            return False
        return sizes in self._made or (sizes in self._passed and may_be_new and len(self._made) < _MOST_FORMS)

    def passed(self, sizes: Sizes) -> None:
        """Takes in that batches of these lengths have been gone over op by op, which checks more than XLA would."""
        self._passed.add(sizes)

    def has(self, sizes: Sizes) -> bool:
        """Whether there is a form for batches of these lengths."""
        return sizes in self._made

    def made(self, sizes: Sizes) -> None:
        """Takes in that a form has been compiled."""
        self._made.add(sizes)

    def took(self, is_compiled: bool, steps: int, seconds: float) -> None:
        """Takes in how long a call took that prepared nothing."""
        if not is_compiled:
            self._seconds, self._steps = self._seconds + seconds, self._steps + steps
        trial = self._trial
        if not trial.is_open or not self._made or self.is_off:
            return
        if is_compiled and not self._is_tried:
            usual = self._seconds / self._steps
            self._is_tried = seconds <= max(_LONG, _FAR_SLOWER * steps * usual)
            self._slow_calls += not self._is_tried
            if self._slow_calls == 2:  # one may be chance
                trial.best, trial.is_open = {False: usual, True: seconds / steps}, False
        elif is_compiled == trial.other:
            trial.took(steps, seconds)
        if not trial.is_open:
            line = "Steps go on %s: %.3f ms each, %.3f ms as compiled ones."
            logger.info(line, "compiled" if trial.other else "uncompiled", *(1e3 * one for one in trial.best.values()))
