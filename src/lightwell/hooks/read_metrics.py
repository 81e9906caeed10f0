"""Reads the metrics of an evaluation once all batches are in; the last hook, so that others' `end` comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.hooks.base import ScheduledHook
from lightwell.keys import GLOBAL_STEP


class ReadMetrics(ScheduledHook):
    """Keeps what `read` gives at the end.

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
        found = self._read()
        step = found.pop(GLOBAL_STEP)
        self.result = {**{name: found[name] for name in sorted(found)}, GLOBAL_STEP: step}
