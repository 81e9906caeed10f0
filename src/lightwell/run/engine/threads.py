"""`Threads`: whether steps run in the session's thread pool or in the calling thread. Both are timed on real calls.

A session hands operations to a thread pool. For small operations that costs more than it gains, and where the limit is
differs by model and machine. The results are the same to the last bit: the calling thread is switched to the rounding
mode of the pool (`denormals.py`).
"""

from __future__ import annotations

import math

_SHORTEST = 0.001  # seconds; shorter calls are added up before they are compared
_SMALL = 1e-5  # seconds of a step, for each op of its graph; for larger ones the thread pool costs little
_TURNS = 6


class Trial:
    """Times two ways to run a call, and picks the faster.

    Args:
        is_open: whether there is a choice at all.
        small: seconds; where a step takes longer, the first way is used.

    Attributes:
        is_open: whether the trial still runs.
        other: whether the next call uses the second way.
        best: seconds per step, of the first way (False) and of the second.
    """

    def __init__(self, is_open: bool, small: float = math.inf) -> None:
        self.is_open = is_open
        self.other = False
        self._small = small
        self._steps, self._seconds = 0, 0.0
        self._calls = -2  # the first ones prepare
        self.best = {False: math.inf, True: math.inf}

    def record_duration(self, steps: int, seconds: float) -> None:
        """Records a call that was run the current way."""
        self._steps, self._seconds = self._steps + steps, self._seconds + seconds
        if not self.is_open or self._seconds < _SHORTEST:
            return
        steps, seconds, self._steps, self._seconds = self._steps, self._seconds, 0, 0.0
        turn, is_second = divmod(self._calls, 2)  # the first call of a turn starts with the caches of the other way
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
        may_start: whether the first step of a run, which starts the input, may do so too.
        ops: how many ops their graph has.
    """

    def __init__(self, may_stay: bool, may_start: bool, ops: int) -> None:
        self.may_stay, self.may_start = may_stay, may_start
        self._has_begun = False
        super().__init__(may_stay, _SMALL * ops)

    def begin(self) -> None:
        """Starts a run."""
        self._has_begun = False

    @property
    def stays(self) -> bool:
        """Whether the next call shall run in the calling thread."""
        return self.other and (self._has_begun or self.may_start)

    def record_duration(self, steps: int, seconds: float) -> None:
        is_measured = self.stays == self.other
        self._has_begun = True
        if is_measured:
            super().record_duration(steps, seconds)
