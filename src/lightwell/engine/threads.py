"""By the pool of threads, or in the calling one? Both are tried, on calls that have to be made anyway.

A session hands operations to a pool of threads. For small ones the handing over costs more than it gains, however many
there are, for large ones not, and which it is differs from model to model and machine to machine. The numbers are the
same, to the last bit: the calling thread is switched to the mode of the others (`denormals.py`).
"""

from __future__ import annotations

import math

_SHORTEST = 0.001  # seconds; calls that are shorter, taken together, say nothing
_SMALL = 1e-5  # seconds of a step, for each op of its graph; of larger ones, handing over is a small part
_TURNS = 6


class Trial:
    """Finds out which of two ways is faster, call by call.

    Args:
        is_open: whether there is a choice at all.
        small: seconds; where a step takes longer, the one way will do.

    Attributes:
        is_open: whether it is still being found out.
        other: whether the next call shall go the other way.
        best: seconds that a step takes, of the one way (False) and of the other.
    """

    def __init__(self, is_open: bool, small: float = math.inf) -> None:
        self.is_open = is_open
        self.other = False
        self._small = small
        self._steps, self._seconds = 0, 0.0
        self._calls = -2  # the first ones prepare
        self.best = {False: math.inf, True: math.inf}

    def took(self, steps: int, seconds: float) -> None:
        """Takes in how long a call took that was made the present way."""
        self._steps, self._seconds = self._steps + steps, self._seconds + seconds
        if not self.is_open or self._seconds < _SHORTEST:
            return
        steps, seconds, self._steps, self._seconds = self._steps, self._seconds, 0, 0.0
        turn, is_second = divmod(self._calls, 2)  # the first call of a turn finds caches as the other way left them
        self._calls += 1
        if turn < 0 or not is_second:
            return
        self.best[self.other] = min(self.best[self.other], seconds / steps)
        self.is_open = turn < _TURNS - 1 and self.best[False] < self._small
        self.other = not self.other if self.is_open else self.best[True] < self.best[False]


class Threads(Trial):
    """Which threads run the steps of a session.

    Args:
        may_stay: whether steps may run in the calling thread at all.
        may_start: whether they may do so from the first of a run, which sets the input going.
        ops: how many ops their graph has.
    """

    def __init__(self, may_stay: bool, may_start: bool, ops: int) -> None:
        self.may_stay, self.may_start = may_stay, may_start
        self._has_begun = False
        super().__init__(may_stay, _SMALL * ops)

    def begin(self) -> None:
        """Takes in that a run begins."""
        self._has_begun = False

    @property
    def stays(self) -> bool:
        """Whether the next call shall run in the calling thread."""
        return self.other and (self._has_begun or self.may_start)

    def took(self, steps: int, seconds: float) -> None:
        was_as_told = self.stays == self.other
        self._has_begun = True
        if was_as_told:
            super().took(steps, seconds)
