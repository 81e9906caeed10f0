"""What a run says while it runs: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Reporter(Protocol):
    """Hears what happens."""

    def now(self, what: str) -> None:
        """Something starts."""

    def done(self, pieces: int = 1) -> None:
        """So many pieces of work are done."""

    def say(self, line: str) -> None:
        """Something worth keeping on the screen."""


class _Bar:
    def __init__(self, bar: Progress, task: Any) -> None:
        self._bar, self._task = bar, task

    def now(self, what: str) -> None:
        self._bar.update(self._task, description=what)

    def done(self, pieces: int = 1) -> None:
        self._bar.advance(self._task, pieces)

    def say(self, line: str) -> None:
        self._bar.console.print(line, markup=False, highlight=False)


class _Lines:
    def __init__(self, total: int) -> None:
        self._total, self._done, self._started = total, 0, time.monotonic()
        self._last = ""

    def now(self, what: str) -> None:
        if what != self._last:
            self._last = what
            self.say(what)

    def done(self, pieces: int = 1) -> None:
        self._done += pieces

    def say(self, line: str) -> None:
        seconds = time.monotonic() - self._started
        print(f"[{seconds:6.0f} s, {self._done:3d} of {self._total}] {line}", flush=True)


@contextlib.contextmanager
def reporting(total: int) -> Iterator[Reporter]:
    """A reporter for so many pieces of work."""
    if not sys.stdout.isatty():
        yield _Lines(total)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console()) as bar:
        yield _Bar(bar, bar.add_task("starting", total=total))
