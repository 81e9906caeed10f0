"""Stops an evaluation after a number of batches, and logs its progress."""

from __future__ import annotations

from typing import Any

from lightwell.base.log import logger
from lightwell.run.hooks.base import ScheduledHook


class StopAfter(ScheduledHook):
    """Requests a stop after `steps` batches; a line for each tenth of them."""

    keeps_to_context = True

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._log_every = 1 if steps <= 10 else steps // 10

    def next_look(self, count: int) -> int:
        """The next line to log, or the last batch."""
        return max(count + 1, min((count // self._log_every + 1) * self._log_every, self._steps))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Logs, and stops at the last."""
        if run_context.count % self._log_every == 0 or run_context.count == self._steps:
            logger.info("Evaluation [%d/%d]", run_context.count, self._steps)
        if run_context.count >= self._steps:
            run_context.request_stop()
