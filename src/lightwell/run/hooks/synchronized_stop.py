"""Stops all processes of a cluster at the same step, where they take every step together."""

from __future__ import annotations

from typing import Any

from lightwell.base.log import logger
from lightwell.run.hooks.base import ScheduledHook, SessionRunArgs


class SynchronizedStop(ScheduledHook):
    """Passes on a request to stop: a process that stopped by itself would leave the others waiting for its gradients.

    It must come last: a request of the hooks before it goes to all processes with the next step, and all stop after it.
    A goal in steps is reached by all at once, and needs no request.

    Args:
        wish: a placeholder, 1 where this process requests a stop.
        wishes: a tensor of the step, the sum over all processes.
    """

    def __init__(self, wish: Any, wishes: Any) -> None:
        self._wish, self._wishes = wish, wishes
        self._requests_stop = False

    def looks_at(self) -> Any:
        """The sum."""
        return self._wishes

    def before_run(self, run_context: Any) -> Any:
        """Feeds the request of this process, and fetches the sum."""
        return SessionRunArgs(self._wishes, feed_dict={self._wish: float(self._requests_stop)})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops if any process requested it before this step, or has no further batch; defers a new request."""
        if run_values.results > 0:
            if not self._requests_stop:
                logger.info("All processes stop at step %d: one asks to, or has no more input.", run_context.count)
            run_context.request_stop()
        elif run_context.stop_requested and not run_context.is_at_goal:
            self._requests_stop = True
            run_context.withdraw_stop()
