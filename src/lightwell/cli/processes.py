"""The processes of `lightwell launch`: started, listened to, reported on, started again, ended.

Takes tasks, gives one exit code. What a task writes is passed on line by line behind its name; in a terminal one more
line at the bottom says how all of them are.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

_ENDING_SECS = 20.0  # for a last checkpoint
_SERVER_SECS = 10.0  # after the last one that trains has ended
_STEP = re.compile(r"\bstep = (\d+)")
_COLOURS = {"chief": "32", "worker": "36", "ps": "33", "evaluator": "35"}


@dataclass(frozen=True)
class Task:
    """One process to run.

    Attributes:
        kind: `chief`, `worker`, `ps` or `evaluator`.
        index: its number among those of its kind.
        settings: its `TF_CONFIG`.
        command: the words of its command line.
    """

    kind: str
    index: int
    settings: str
    command: Sequence[str]

    @property
    def name(self) -> str:
        """What its lines begin with."""
        return self.kind if self.kind in ("chief", "evaluator") else f"{self.kind} {self.index}"

    @property
    def is_vital(self) -> bool:
        """Whether the others cannot come to an end without it."""
        return self.kind in ("chief", "ps")


class _Running:
    """A task whose process was started, maybe more than once."""

    def __init__(self, task: Task, lines: queue.Queue[tuple[Task, str, IO[str]]]) -> None:
        self.task, self._lines = task, lines
        self.starts = 0
        self.code: int | None = None  # of a task that is over for good
        self._listeners: list[threading.Thread] = []
        self.start()

    def start(self) -> None:
        """Starts the process. It is the head of a group of its own: Ctrl-C in the terminal is the launcher's."""
        environment = {**os.environ, "TF_CONFIG": self.task.settings, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            self.task.command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self.starts += 1
        pipes = ((self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr))
        self._listeners = [threading.Thread(target=self._listen, args=pair, daemon=True) for pair in pipes]
        for listener in self._listeners:
            listener.start()

    def _listen(self, pipe: Any, out: IO[str]) -> None:
        for line in pipe:
            self._lines.put((self.task, line.rstrip("\n"), out))
        pipe.close()

    def heard_out(self) -> None:
        """Waits until all that an ended process wrote has been read; one that it left behind may hold on for ever."""
        for listener in self._listeners:
            listener.join(timeout=1.0)

    def tell(self, number: signal.Signals) -> None:
        """Sends a signal to the process and all that it has started."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class _Screen:
    """Writes the lines of all tasks; in a terminal, the line about them stays at the bottom."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._width = max(len(task.name) for task in tasks)
        self._is_terminal = sys.stdout.isatty() and sys.stderr.isatty()
        self._status = ""
        self.step = ""

    def line(self, task: Task, text: str, out: IO[str]) -> None:
        """One line of a task."""
        found = _STEP.search(text)
        if found and task.kind in ("chief", "worker"):
            self.step = found[1]
        name = f"{task.name:<{self._width}} |"
        self._write(f"\033[{_COLOURS[task.kind]}m{name}\033[0m {text}" if self._is_terminal else f"{name} {text}", out)

    def own(self, text: str) -> None:
        """One line of the launcher's own."""
        self._write(f"{'launch':<{self._width}} | {text}", sys.stderr)

    def status(self, running: Sequence[_Running], seconds: float) -> None:
        """The line at the bottom."""
        if not self._is_terminal:
            return
        up = [one.task.name for one in running if one.code is None]
        step = f"step {int(self.step):,} · " if self.step else ""
        text = f"{step}{len(up)} of {len(running)} tasks run: {', '.join(up)} · {seconds:.0f} s"
        columns = os.get_terminal_size().columns
        self._status = text[: columns - 1]
        print(f"\r\033[K{self._status}", end="", flush=True)

    def _write(self, text: str, out: IO[str]) -> None:
        if self._is_terminal:
            print("\r\033[K", end="", flush=True)
        print(text, file=out, flush=True)
        if self._is_terminal and self._status:
            print(self._status, end="", flush=True)


class _Cluster:
    def __init__(self, tasks: Sequence[Task], restarts: int) -> None:
        self._restarts = restarts
        self._lines: queue.Queue[tuple[Task, str, IO[str]]] = queue.Queue()
        self._screen = _Screen(tasks)
        self._started = time.monotonic()
        self._training_ended: float | None = None
        self._failed: int | None = None
        self.running: list[_Running] = []
        for task in tasks:
            self.running.append(_Running(task, self._lines))

    def run(self) -> int:
        """Until all are over; returns the exit code."""
        while any(one.code is None for one in self.running):
            self._pass_on(0.2)
            for one in self.running:
                if one.code is None and one.process.poll() is not None:
                    one.heard_out()
                    self._pass_on(0.0)
                    self._ended(one, one.process.returncode)
            self._end_servers_left()
            self._screen.status(self.running, time.monotonic() - self._started)
        self._pass_on(0.0)
        self._screen.own(f"all tasks have ended{'' if not self._failed else f'; exit code {self._failed}'}")
        return self._failed or 0

    def end_all(self, why: str) -> None:
        """Ends all tasks: asked first, so that the chief can save; made to after a while."""
        left = [one for one in self.running if one.code is None]
        if not left:
            return
        self._screen.own(f"{why}: ending {', '.join(one.task.name for one in left)}")
        # The chief first, while it has all that it needs to save; servers last.
        for kinds in (("chief",), ("worker", "evaluator"), ("ps",)):
            group = [one for one in left if one.task.kind in kinds]
            for number in (signal.SIGTERM, signal.SIGKILL):
                for one in group:
                    one.tell(number)
                until = time.monotonic() + _ENDING_SECS
                while time.monotonic() < until and any(one.process.poll() is None for one in group):
                    self._pass_on(0.1)
        for one in left:
            one.heard_out()
            one.code = one.process.poll()
        self._pass_on(0.0)

    def _pass_on(self, seconds: float) -> None:
        """Writes the lines that have come; waits so long for the first."""
        try:
            while True:
                self._screen.line(*self._lines.get(timeout=seconds) if seconds else self._lines.get_nowait())
                seconds = 0.0
        except queue.Empty:
            return

    def _ended(self, one: _Running, code: int) -> None:
        name = one.task.name
        if code == 0:
            one.code = 0
            self._screen.own(f"{name} has ended")
        elif one.starts <= self._restarts:
            self._screen.own(
                f"{name} died ({_how(code)}); started again, {one.starts} of {self._restarts}. At most the steps since "
                "the last checkpoint are lost"
            )
            one.start()
            return
        else:
            one.code = code
            self._failed = self._failed or (code if code > 0 else 128 - code)
            self._screen.own(
                f"{name} died ({_how(code)}){'' if self._restarts else '; --restart would start it again'}"
            )
            if one.task.is_vital:
                self.end_all(f"nothing can go on without {name}")
        trainers = [other for other in self.running if other.task.kind in ("chief", "worker")]
        if self._training_ended is None and all(other.code is not None for other in trainers):
            self._training_ended = time.monotonic()

    def _end_servers_left(self) -> None:
        """A server does not know that a training has ended which nobody told it of: one by `train` alone."""
        if self._training_ended is None or time.monotonic() - self._training_ended < _SERVER_SECS:
            return
        for one in self.running:
            if one.code is None and one.task.kind == "ps":
                one.tell(signal.SIGTERM)
                one.process.wait(timeout=_ENDING_SECS)
                one.code = 0
                self._screen.own(f"{one.task.name} was ended: nobody trains any more")


def run_all(tasks: Sequence[Task], restarts: int) -> int:
    """Runs all tasks to their end; returns the exit code.

    Args:
        tasks: the tasks, in the order in which they are started.
        restarts: how often each may be started again.
    """
    cluster = _Cluster(tasks, restarts)
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return cluster.run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        cluster.end_all("interrupted")
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)
        for one in cluster.running:
            one.tell(signal.SIGKILL)


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _how(code: int) -> str:
    return f"exit code {code}" if code > 0 else f"signal {signal.Signals(-code).name}"
