"""Reads the metrics of an evaluation once all batches are in; the last hook, so that others' `end` comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.base.keys import GLOBAL_STEP
from lightwell.run.hooks.base import ScheduledHook


class ReadMetrics(ScheduledHook):
    """Stores the result of `read` at the end.

    Args:
        read: reads the values, by the metrics' names.

    Attributes:
        result: metrics sorted by name, the step last.
    """

    keeps_to_context = True

    def __init__(self, read: Callable[[], dict[str, Any]]) -> None:
        self._read = read
        self.result: dict[str, Any] = {}

    def next_look(self, count: int) -> int:
        """No batch."""
        return self.NEVER

    def end(self, session: Any) -> None:
        """Reads."""
        metrics = self._read()
        step = metrics.pop(GLOBAL_STEP)
        self.result = {**{name: metrics[name] for name in sorted(metrics)}, GLOBAL_STEP: step}
