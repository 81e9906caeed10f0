"""Stops training at a step: after `steps` more, or once the counter reaches `last_step`."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.run.hooks.base import ScheduledHook


class StopAtStep(ScheduledHook):
    """Requests a stop once the goal is reached.

    Args:
        steps: how many more steps; exactly one of this and `last_step` is set.
        last_step: up to which step.
        may_stand_still: whether a step of this process need not move the counter, as in a cluster whose processes take
            each step together.
    """

    judges_each_step = True

    def __init__(self, steps: int | None, last_step: int | None, may_stand_still: bool = False) -> None:
        self._steps = steps
        self.last_step = last_step
        self._first_step: int | None = None
        self._is_counting = False
        self._has_complained = may_stand_still

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Turns a number of steps into a step; after a lost session, the goal stays what it was."""
        if self.last_step is None and self._steps is not None:
            self.last_step = int(session.run(tf.compat.v1.train.get_global_step())) + math.ceil(self._steps)

    def next_look(self, count: int) -> int:
        """The goal itself; the first two steps are looked at too, to catch a counter that does not count."""
        if self.last_step is None or not (self._is_counting or self._has_complained):
            return count + 1
        return max(count + 1, self.after_stale(math.ceil(self.last_step)))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops at the goal."""
        step = run_context.global_step
        if self._first_step is None:
            self._first_step = step
        elif step != self._first_step:
            self._is_counting = True
        elif not self._has_complained:
            self._has_complained = True
            logger.warning(
                "The global step is still %d after another training step, so training cannot tell when to stop. Pass "
                "global_step=tf.compat.v1.train.get_global_step() to optimizer.minimize(...).",
                step,
            )
        if self.last_step is not None and run_context.count_before + 1 >= self.last_step <= step:
            run_context.is_at_goal = True
            run_context.request_stop()
