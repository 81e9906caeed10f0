"""Ends a training whose processes take every step together at the same step in all of them."""

from __future__ import annotations

from typing import Any

from lightwell.hooks.base import ScheduledHook, SessionRunArgs
from lightwell.log import logger


class StopTogether(ScheduledHook):
    """Passes on a wish to stop: a process that stopped by itself would leave the others waiting for its gradients.

    It must come last: what the hooks before it ask for is told to all with the next step, and all stop after that one.
    A goal in steps is reached by all at once, and needs no telling.

    Args:
        wish: a placeholder, 1 where this process wishes to stop.
        wishes: a tensor of the step, their sum over all processes.
    """

    def __init__(self, wish: Any, wishes: Any) -> None:
        self._wish, self._wishes = wish, wishes
        self._wants_to = False

    def looks_at(self) -> Any:
        """The sum."""
        return self._wishes

    def before_run(self, run_context: Any) -> Any:
        """Tells the others."""
        return SessionRunArgs(self._wishes, feed_dict={self._wish: float(self._wants_to)})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops if anybody wished to before this step, or has no batch for another; keeps a wish for the next one."""
        if run_values.results > 0:
            if not self._wants_to:
                logger.info("All processes stop at step %d: one asks to, or has no more input.", run_context.count)
            run_context.request_stop()
        elif run_context.stop_requested and not run_context.is_at_goal:
            self._wants_to = True
            run_context.withdraw_stop()
