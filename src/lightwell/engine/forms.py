"""`Forms`: for how many batches and of which lengths steps have been compiled, and whether it is worth it.

XLA compiles for fixed shapes. So that not every number of steps is a form of its own, a form has room for so many
batches, and fewer may be gone over with it; which means to copy them.
"""

from __future__ import annotations

from typing import Any

from lightwell.engine.threads import Trial
from lightwell.log import logger

_MOST_FORMS = 4  # each takes a second or more to make
_MOST_STEPS = 128
_MOST_BYTES = 2**24  # of the batches that are taken in for a call
_MOST_EMPTY = 2  # a form may have room for so many times as many batches as it would be made for
_FIRST_STEPS = 4  # of a call that tells how big batches are, or how slow compiled steps may be
_FAR_SLOWER = 2  # times; what takes so long is tried no further
_LONG = 0.1  # seconds; in a shorter call of a few steps, what is around them is most of it
_MOST_UNSTEADY = 3  # calls to wait for two of the same length, which is then that of a form
_WORTH = 1.0  # seconds of steps, before "auto" pays for compiling
_MOST_PATIENCE = 3.0  # seconds, while it is not settled how steps are fastest without
Sizes = tuple[int, ...]


class Forms:
    """The compiled forms of one session's steps.

    Args:
        jit_compile: `RunConfig.jit_compile`.

    Attributes:
        is_off: whether XLA cannot compile them.
        batch_bytes: how big a batch is, once that is known.
    """

    def __init__(self, jit_compile: Any) -> None:
        self._is_auto = jit_compile == "auto"
        self._made: dict[Sizes, set[int]] = {}
        self._seconds, self._steps = 0.0, 0
        self._trial = Trial(self._is_auto, fewest=2)
        self._asked = self._unsteady = 0
        self._is_steady = False
        self.is_off = False
        self.batch_bytes: int | None = None

    @property
    def _most_steps(self) -> int:
        return max(1, min(_MOST_STEPS, _MOST_BYTES // max(self.batch_bytes or 1, 1)))

    def is_wanted(self, asked: int, is_settled: bool) -> bool:
        """Whether a call of so many steps shall be compiled. `is_settled` is whether it is known how it is fastest
        without."""
        # Calls of always the same length are as long as somebody's schedule lets them be.
        self._is_steady, self._asked = asked == self._asked or asked >= self._most_steps, asked
        self._unsteady += not self._is_steady
        if self.is_off or not (self._made or self._is_steady or self._unsteady > _MOST_UNSTEADY):
            return False
        if not self._is_auto:
            return True
        if self._trial.is_open and not self._made:
            return self._seconds > (_WORTH if is_settled else _MOST_PATIENCE)
        return self._trial.other

    def steps_of(self, asked: int) -> int:
        """How many of the steps asked for a call may have."""
        is_first = self.batch_bytes is None or (self._is_auto and not self._made)
        return min(asked, _FIRST_STEPS if is_first else self._most_steps)

    def room_for(self, sizes: Sizes, steps: int, may_be_new: bool) -> int | None:
        """The room of the form to use for so many batches of these lengths; None for none."""
        if self.is_off:
            return None
        fitting = sorted(room for room in self._made.get(sizes, ()) if room >= steps)
        room = max(steps, min(self._asked, self._most_steps) if self._is_steady else self._most_steps)
        if fitting and fitting[0] <= _MOST_EMPTY * room:
            return fitting[0]
        is_new = may_be_new and sum(map(len, self._made.values())) < _MOST_FORMS
        return room if is_new else next(iter(fitting), None)

    def has(self, sizes: Sizes, room: int) -> bool:
        """Whether there is such a form."""
        return room in self._made.get(sizes, ())

    def made(self, sizes: Sizes, room: int) -> None:
        """Takes in that a form has been compiled."""
        self._made.setdefault(sizes, set()).add(room)

    def took(self, is_compiled: bool, steps: int, seconds: float) -> None:
        """Takes in how long a call took."""
        if not is_compiled:
            self._seconds, self._steps = self._seconds + seconds, self._steps + steps
        trial = self._trial
        if not trial.is_open or not self._made or self.is_off:
            return
        if is_compiled == trial.other:
            trial.took(steps, seconds)
        elif is_compiled and seconds > max(_LONG, _FAR_SLOWER * steps * self._seconds / self._steps):
            trial.best = {False: self._seconds / self._steps, True: seconds / steps}
            trial.is_open = False
        if not trial.is_open:
            line = "Steps go on %s: %.3f ms each, %.3f ms as compiled ones."
            logger.info(line, "compiled" if trial.other else "uncompiled", *(1e3 * one for one in trial.best.values()))
