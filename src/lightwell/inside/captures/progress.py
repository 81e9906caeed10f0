"""The line of a capture on a terminal: rows of rows, bytes on disk, rows per second, time left. Quiet without one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from lightwell.inside.captures.sizes import in_words
from lightwell.run.hooks.show_progress import fitting_columns, terminal_wants_progress

if TYPE_CHECKING:
    from rich.progress import Progress

_SECONDS_BETWEEN = 0.1


class CaptureProgress:
    """Draws the line."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: Any = None
        self._drawn = 0.0
        self._from = (0, 0.0)

    def start(self, total: int | None, rows: int, message: str) -> None:
        """Opens the line.

        Args:
            total: how many examples there are, if that is known.
            rows: how many of them are there already.
            message: the size of the capture, in words.
        """
        if not terminal_wants_progress():
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = fitting_columns(
            console.width,
            (0, TextColumn("capture")),
            (90, BarColumn(bar_width=24)),
            (0, TextColumn("{task.fields[of]} examples")),
            (48, TextColumn("{task.fields[written]}")),
            (60, TextColumn("{task.fields[rate]:,.0f}/s")),
            (70, TimeRemainingColumn() if total is not None else TimeElapsedColumn()),
        )
        self._bar = Progress(*columns, console=console, refresh_per_second=10)
        self._bar.console.print(message, highlight=False)
        self._task = self._bar.add_task("capture", total=total, completed=rows, of="", written="", rate=0.0)
        self._from = (rows, time.monotonic())
        self._bar.start()
        self.at(rows, 0, total, force=True)

    def at(self, rows: int, written: int, total: int | None, force: bool = False) -> None:
        """Moves on, if it is time to draw."""
        now = time.monotonic()
        if self._bar is None or (now - self._drawn < _SECONDS_BETWEEN and not force):
            return
        self._drawn = now
        rate = (rows - self._from[0]) / max(now - self._from[1], 1e-9)
        of = f"{rows:,}" if total is None else f"{rows:,}/{total:,}"
        self._bar.update(self._task, completed=rows, of=of, written=in_words(written), rate=rate)

    def close(self) -> None:
        """Leaves the last state of the line on the screen."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
