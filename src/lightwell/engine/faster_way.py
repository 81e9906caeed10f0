"""By the pool, or in the calling thread?

A session hands operations to a pool of threads. For small ones the handing over costs more than it gains, for large
ones not, and which it is differs from model to model and machine to machine. Both ways are tried, on steps that have to
be run anyway, and the faster is kept. The numbers are the same.
"""

from __future__ import annotations

import statistics
from typing import Any

import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.inputs.pipeline import datasets_behind

_SMALL = 0.003  # seconds; what could be gained on a longer step is not worth preparing it twice
_ITERATORS = ("Iterator", "IteratorV2", "OneShotIterator", "AnonymousIterator", "AnonymousIteratorV2")


class FasterWay:
    """Finds out which way is faster, call by call.

    Args:
        may_stay: whether the steps may run in the calling thread at all; see `may_stay_in_thread`.
        fewest: a call of fewer steps says nothing.
        before: calls before the trial. The second way is prepared by optimising the graph once more: not for a few.
        a_turn: calls that are made one way before it is the other's turn.
        turns: how many turns the trial has.
    """

    def __init__(self, may_stay: bool, *, fewest: int = 10, before: int = 2, a_turn: int = 2, turns: int = 6) -> None:
        self.is_decided = not may_stay
        self.stays = False
        self._fewest, self._a_turn, self._turns = fewest, a_turn, turns
        self._calls = -before
        self._seconds: dict[bool, list[float]] = {False: [], True: []}

    @property
    def options(self) -> Any:
        """`RunOptions` for the next call, or None."""
        return tf.compat.v1.RunOptions(inter_op_thread_pool=-1) if self.stays else None

    def took(self, steps: int, seconds: float) -> None:
        """Takes in how long the call took that was made the present way."""
        if self.is_decided or steps < self._fewest:
            return
        turn, call = divmod(self._calls, self._a_turn)
        self._calls += 1
        if turn < 0:
            return
        if call:  # the first of a turn prepares, and finds caches and threads as the other way left them
            self._seconds[self.stays].append(seconds / steps)
        if call == self._a_turn - 1:
            self._end_turn(turn)

    def _end_turn(self, turn: int) -> None:
        self.stays = not self.stays
        if turn == 0 and statistics.median(self._seconds[False]) > _SMALL:
            self.is_decided, self.stays = True, False
        elif turn == self._turns - 1:
            self.is_decided = True
            self.stays = _quick_ones(self._seconds[True]) < _quick_ones(self._seconds[False])


def _quick_ones(seconds: list[float]) -> float:
    """The lower quartile: other work on the machine makes steps slower, never faster."""
    return statistics.quantiles(seconds, n=4)[0]


def may_stay_in_thread(program: Program, target: str) -> bool:
    """Whether the steps of a program may run in the thread that calls.

    A pipeline runs its functions where the step that first asked it for a batch ran: if that was in the calling thread,
    one by one. So it must have no functions, or a prefetching thread of its own, which the first steps have started.
    """
    if target:  # threads of another machine
        return False
    safe = [op.inputs[1].op.name for op in program.inputs.initializers if op.type == "MakeIterator" and _is_safe(op)]
    return all(op.name in safe for op in program.graph.get_operations() if op.type in _ITERATORS)


def _is_safe(initializer: tf.Operation) -> bool:
    source = initializer.inputs[0].op
    while source.type == "OptionsDataset":
        source = source.inputs[0].op
    has_functions = any("func" in attribute.type for op in datasets_behind(source) for attribute in op.op_def.attr)
    return source.type == "PrefetchDataset" or not has_functions
