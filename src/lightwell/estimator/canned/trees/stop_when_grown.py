"""Stops a training when all trees are grown."""

from __future__ import annotations

from typing import Any

from lightwell.estimator.canned.trees.settings import TreeSettings
from lightwell.run.hooks.base import ScheduledHook, SessionRunArgs


class StopWhenGrown(ScheduledHook):
    """Stops when there are enough trees, or twice as many layers were tried as they may have.

    Args:
        state: after a step, how many trees there are, how many are grown, how many layers were tried.
        settings: how trees grow.
    """

    def __init__(self, state: Any, settings: TreeSettings) -> None:
        self._state, self._trees = state, settings.n_trees
        self._layers = 2 * settings.n_trees * settings.max_depth

    def looks_at(self) -> Any:
        """The state."""
        return self._state

    def before_run(self, run_context: Any) -> Any:
        """Asks for the state."""
        return SessionRunArgs(self._state)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compares it."""
        _, finished, layers = run_values.results
        if finished >= self._trees or layers > self._layers:
            run_context.request_stop()
