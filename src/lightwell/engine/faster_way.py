"""By the pool, or in the calling thread? For short steps many of which run in one call.

A session hands operations to a pool of threads. For small ones the handing over costs more than it gains, for large
ones not, and which it is differs from model to model and machine to machine. Both ways are tried, on steps that have to
be run anyway, and the faster is kept. The numbers are the same.
"""

from __future__ import annotations

import statistics
from typing import Any

import tensorflow as tf

_FEW = 10  # a call of fewer steps says little
_WARM_CALLS = 2
_CALLS_A_TURN = 2
_TURNS = 6
_SMALL = 0.003  # seconds; what could be gained on a longer step is not worth preparing it twice


class FasterWay:
    """Finds out which way is faster, call by call.

    Args:
        may_stay: whether the steps may run in the calling thread at all.
    """

    def __init__(self, may_stay: bool) -> None:
        self.is_decided = not may_stay
        self.stays = False
        self._calls = -_WARM_CALLS
        self._seconds: dict[bool, list[float]] = {False: [], True: []}

    @property
    def options(self) -> Any:
        """`RunOptions` for the next call, or None."""
        return tf.compat.v1.RunOptions(inter_op_thread_pool=-1) if self.stays else None

    def took(self, steps: int, seconds: float) -> None:
        """Takes in how long the call took that was made the present way."""
        if self.is_decided or steps < _FEW:
            return
        turn, call = divmod(self._calls, _CALLS_A_TURN)
        self._calls += 1
        if (
            turn >= 0 and call == _CALLS_A_TURN - 1
        ):  # the first of a turn prepares, and finds the caches of the other way
            self._seconds[self.stays].append(seconds / steps)
            self._next_turn(turn)

    def _next_turn(self, turn: int) -> None:
        self.stays = not self.stays
        if turn == 0 and self._seconds[False][0] > _SMALL:
            self.is_decided, self.stays = True, False
        elif turn == _TURNS - 1:
            self.is_decided = True
            self.stays = statistics.median(self._seconds[True]) < statistics.median(self._seconds[False])
