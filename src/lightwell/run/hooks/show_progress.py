"""The progress line of training on a terminal: step of steps, loss, steps per second, time left.

Below it are the notes of `CheckpointWork` listeners: the evaluation that runs, or the result of the last one. Without a
terminal it prints nothing; `log_loss.py` writes lines instead.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lightwell.base.log import logger
from lightwell.run.hooks.base import ScheduledHook
from lightwell.run.hooks.checkpoint_work import CheckpointWork
from lightwell.run.hooks.stop_at_step import StopAtStep

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

_SECONDS_BETWEEN_LOOKS = 0.1


def terminal_wants_progress() -> bool:
    """Whether a person is watching: standard error is a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb" and "CI" not in os.environ


def fitting_columns(width: int, *columns: tuple[int, Any]) -> list[Any]:
    """The columns of a line that a terminal has room for; each comes with the terminal width that it needs."""
    return [column for least, column in columns if width >= least]


@contextlib.contextmanager
def counted(what: str, units: str, total: int | None) -> Iterator[Callable[[], object]]:
    """A progress line for work in units: `ablate layers/conv2d ━━━ 3/32 channels`. Quiet without a terminal.

    Args:
        what: the work.
        units: what is counted, in the plural.
        total: how many there are; None if unknown.

    Yields:
        What to call after each unit.
    """
    if not terminal_wants_progress():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = fitting_columns(
        console.width,
        (0, TextColumn(what, markup=False)),
        (70, BarColumn(bar_width=24)),
        (0, MofNCompleteColumn()),
        (50, TextColumn(units)),
        (60, TimeRemainingColumn() if total is not None else TimeElapsedColumn()),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)


class ShowProgress(ScheduledHook):
    """Draws the line while training runs.

    Args:
        goal: what stops the training, if it is a step.
        at_work: listeners whose notes are shown below.
    """

    def __init__(self, goal: StopAtStep | None, at_work: Sequence[CheckpointWork] = ()) -> None:
        self._goal = goal
        self._at_work = at_work
        self._bar: Progress | None = None
        self._task: Any = None
        self._started_at: tuple[int, float] = (0, 0.0)
        self._next = 0
        self._moved: list[tuple[Any, Any]] = []

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the line."""
        self.close()
        self._next = 0

    def next_look(self, count: int) -> int:
        """About ten times a second, converted to steps at the present speed; and the goal, to show it at the end."""
        goal = self._goal.last_step if self._goal is not None else None
        return max(count + 1, self._next if goal is None else min(self._next, math.ceil(goal)))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Redraws."""
        step, now = run_context.count, time.monotonic()
        loss = float(run_context.loss_value)
        if self._bar is None:
            self._open(step, now, loss)
        first_step, first_time = self._started_at
        rate = (step - first_step) / max(now - first_time, 1e-9)
        self._next = step + max(1, int(rate * _SECONDS_BETWEEN_LOOKS))
        self._draw(step, loss, rate)

    def close(self) -> None:
        """Leaves the last state of the line on the screen."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        for handler, stream in self._moved:
            handler.setStream(stream)
        self._moved = []

    def _open(self, step: int, now: float, loss: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.text import Text

        total = self._goal.last_step if self._goal is not None else None
        console = Console(stderr=True)
        columns = fitting_columns(
            console.width,
            (0, TextColumn("train")),
            (80, BarColumn(bar_width=24)),
            (0, TextColumn("step {task.fields[of]}")),
            (40, TextColumn("loss {task.fields[loss]:.4g}")),
            (56, TextColumn("{task.fields[rate]:.0f} steps/s")),
            (64, TimeRemainingColumn() if total is not None else TimeElapsedColumn()),
        )
        at_work = self._at_work

        class WithNotes(Progress):
            def get_renderables(self) -> Iterable[RenderableType]:
                yield from super().get_renderables()
                for note in filter(None, (one.progress_note() for one in at_work)):
                    yield Text(note, no_wrap=True, overflow="ellipsis")

        self._bar = WithNotes(*columns, console=console, refresh_per_second=10)
        self._task = self._bar.add_task("train", total=total, completed=step, of=self._of(step), loss=loss, rate=0.0)
        terminal = sys.stderr
        self._bar.start()  # puts a stream in the place of sys.stderr that writes above the line
        self._move_log_lines(terminal)
        self._started_at = (step, now)

    def _move_log_lines(self, terminal: Any) -> None:
        """Makes log handlers that write to the terminal write above the line."""
        handlers = [*logger.handlers, *logging.getLogger().handlers]
        ours = [one for one in handlers if isinstance(one, logging.StreamHandler) and one.stream is terminal]
        self._moved = [(handler, terminal) for handler in ours]
        for handler in ours:
            handler.setStream(sys.stderr)

    def _draw(self, step: int, loss: float, rate: float) -> None:
        if self._bar is None:
            return
        total = self._goal.last_step if self._goal is not None else None
        self._bar.update(self._task, completed=step, of=self._of(step), loss=loss, rate=rate)
        if total is not None and step >= total:
            self._bar.refresh()

    def _of(self, step: int) -> str:
        total = self._goal.last_step if self._goal is not None else None
        return f"{step:,}" if total is None else f"{step:,}/{total:,}"
