"""By the pool of threads, or in the calling one? Both are tried, on calls that have to be made anyway.

A session hands operations to a pool of threads. For small ones the handing over costs more than it gains, for large
ones not, and which it is differs from model to model and machine to machine. The numbers are the same.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

_FEWEST_STEPS = 10  # a call of fewer says nothing
_SMALL = 0.003  # seconds; what could be gained on a longer step is not worth preparing it twice
_TURNS = 6


class Threads:
    """Finds out which way is faster, call by call.

    Args:
        may_stay: whether steps may run in the calling thread at all.

    Attributes:
        stays: whether the next call shall run there.
    """

    def __init__(self, may_stay: bool) -> None:
        self._is_open = may_stay
        self.stays = False
        self._calls = -2  # the first ones prepare
        self._best = {False: math.inf, True: math.inf}

    @property
    def options(self) -> Any:
        """`RunOptions` for the next call, or None."""
        return tf.compat.v1.RunOptions(inter_op_thread_pool=-1) if self.stays else None

    def took(self, steps: int, seconds: float) -> None:
        """Takes in how long a call took that was made the present way."""
        if not self._is_open or steps < _FEWEST_STEPS:
            return
        turn, is_second = divmod(self._calls, 2)  # the first call of a turn finds caches as the other way left them
        self._calls += 1
        if turn < 0 or not is_second:
            return
        self._best[self.stays] = min(self._best[self.stays], seconds / steps)
        self._is_open = turn < _TURNS - 1 and self._best[False] < _SMALL
        self.stays = not self.stays if self._is_open else self._best[True] < self._best[False]
