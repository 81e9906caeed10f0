"""Stops training once the loss changes little."""

from __future__ import annotations

from typing import Any

from lightwell.run.hooks.base import ScheduledHook, SessionRunArgs


class StopWhenSettled(ScheduledHook):
    """Stops once a step changes the loss by less than a share of it: `|new - old| / (1 + old) < tolerance`.

    Args:
        loss: the loss.
        tolerance: the share.
    """

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss, self._tolerance = loss, tolerance
        self._last: float | None = None

    def begin(self) -> None:
        """Forgets the loss of an earlier training."""
        self._last = None

    def looks_at(self) -> Any:
        """The loss."""
        return self._loss

    def before_run(self, run_context: Any) -> Any:
        """Asks for the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compares it with that of the last step."""
        last, loss = self._last, float(run_values.results)
        self._last = loss
        if last is not None and abs(loss - last) / (1 + last) < self._tolerance:
            run_context.request_stop()
