"""The log line of training: `loss = 0.34, step = 100 (0.512 sec)`."""

from __future__ import annotations

import time
from typing import Any

from lightwell.base.log import logger
from lightwell.run.hooks.base import ScheduledHook


class LogLoss(ScheduledHook):
    """Logs loss and step at the first step, then every `every_steps`.

    The step in the line is the counter before the step ran, as readers of these lines expect.
    """

    judges_each_step = True

    def __init__(self, every_steps: int) -> None:
        self._every = int(every_steps)
        self._runs_left: int | None = None  # until the next line; it is steps of this run that are counted
        self._time = 0.0

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts over with a line at the first step."""
        self._runs_left = None

    def next_look(self, count: int) -> int:
        """The first step, then every `every_steps` steps."""
        return count + 1 if self._runs_left is None else count + max(self._runs_left, 1) * max(self.stride, 1)

    def passed(self, steps: int) -> None:
        """Steps that need no line."""
        if self._runs_left is not None:
            self._runs_left -= steps

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs."""
        now = time.time()
        if self._runs_left is not None and self._runs_left > 1:
            self._runs_left -= 1
            return
        took = "" if self._runs_left is None else f" ({now - self._time:.3f} sec)"
        logger.info("loss = %s, step = %d%s", run_context.loss_value, run_context.count_before, took)
        self._runs_left, self._time = self._every, now
