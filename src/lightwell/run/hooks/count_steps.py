"""Measures steps, or examples, per second: a log line and a number for TensorBoard at regular steps."""

from __future__ import annotations

import time
from typing import Any

from lightwell.base.log import logger
from lightwell.run import events
from lightwell.run.hooks.base import ScheduledHook


class CountSteps(ScheduledHook):
    """Measures a rate every `every_steps` steps.

    Args:
        every_steps: how often.
        directory: where its events go.
        tag: what the rate is called.
        each: how many are counted for a step.
    """

    judges_each_step = True

    def __init__(self, every_steps: int, directory: str, tag: str = "global_step/sec", each: int = 1) -> None:
        self._every = int(every_steps)
        self._directory = directory
        self._tag = tag
        self._each = each
        self._step: int | None = None
        self._time = 0.0

    def begin(self) -> None:
        """Opens the event file, while the graph that a new one gets is the model's alone."""
        events.open_early(self._directory)

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts over: the time to open a session does not count."""
        self._step = None

    def next_look(self, count: int) -> int:
        """The first step, then every `every_steps` steps."""
        return count + 1 if self._step is None else max(count + 1, self.after_stale(self._step + self._every))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Measures."""
        now, step = time.time(), run_context.count
        # Both the count it was expected to lead to and the one it led to must be far enough: it may stand still.
        if self._step is not None and min(run_context.count_before + 1, step) < self._step + self._every:
            return
        if self._step is not None and now > self._time:
            rate = self._each * (step - self._step) / (now - self._time)
            logger.info("%s: %g", self._tag, rate)
            events.write_scalar(self._directory, self._tag, rate, step)
        self._step, self._time = step, now
