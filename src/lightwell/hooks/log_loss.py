"""The log line of training: `loss = 0.34, step = 100 (0.512 sec)`."""

from __future__ import annotations

import time
from typing import Any

from lightwell.hooks.base import ScheduledHook
from lightwell.log import logger


class LogLoss(ScheduledHook):
    """Logs loss and step at the first step, then every `every_steps`.

    The step in the line is the counter before the step ran, as readers of these lines expect.
    """

    def __init__(self, every_steps: int) -> None:
        self._every = int(every_steps)
        self._next: int | None = None
        self._time = 0.0

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Starts over with a line at the first step."""
        self._next = None

    def next_look(self, global_step: int) -> int:
        """The first step, then each so many."""
        return global_step + 1 if self._next is None else max(global_step + 1, self._next)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs."""
        step, now = run_context.global_step, time.time()
        took = "" if self._next is None else f" ({now - self._time:.3f} sec)"
        logger.info("loss = %s, step = %d%s", run_context.loss_value, step - 1, took)
        self._next, self._time = step + self._every, now
