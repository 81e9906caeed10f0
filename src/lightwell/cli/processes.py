"""The processes of `lightwell launch`: starts, watches, restarts and ends them.

Prints every line of a task after its name. On a terminal, a status line stays at the bottom.
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
class LaunchTask:
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
        """The prefix of its lines."""
        return self.kind if self.kind in ("chief", "evaluator") else f"{self.kind} {self.index}"

    @property
    def is_vital(self) -> bool:
        """Whether the others cannot finish without it."""
        return self.kind in ("chief", "ps")


class _TaskProcess:
    """A task whose process was started, maybe more than once."""

    def __init__(self, task: LaunchTask, lines: queue.Queue[tuple[LaunchTask, str, IO[str]]]) -> None:
        self.task, self._lines = task, lines
        self.starts = 0
        self.code: int | None = None  # of a task that is over for good
        self._listeners: list[threading.Thread] = []
        self.start()

    def start(self) -> None:
        """Starts the process. It leads its own process group, so that Ctrl-C reaches the launcher alone."""
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

    def drain(self) -> None:
        """Waits until the output of an ended process is read; the timeout is for children that keep the pipe open."""
        for listener in self._listeners:
            listener.join(timeout=1.0)

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process and its children."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class _Screen:
    """Writes the lines of all tasks; in a terminal, the line about them stays at the bottom."""

    def __init__(self, tasks: Sequence[LaunchTask]) -> None:
        self._width = max(len(task.name) for task in tasks)
        self._is_terminal = sys.stdout.isatty() and sys.stderr.isatty()
        self._status = ""
        self.step = ""

    def line(self, task: LaunchTask, text: str, out: IO[str]) -> None:
        """One line of a task."""
        match = _STEP.search(text)
        if match and task.kind in ("chief", "worker"):
            self.step = match[1]
        name = f"{task.name:<{self._width}} |"
        self._write(f"\033[{_COLOURS[task.kind]}m{name}\033[0m {text}" if self._is_terminal else f"{name} {text}", out)

    def launcher_line(self, text: str) -> None:
        """One line of the launcher itself."""
        self._write(f"{'launch':<{self._width}} | {text}", sys.stderr)

    def status(self, running: Sequence[_TaskProcess], seconds: float) -> None:
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
    def __init__(self, tasks: Sequence[LaunchTask], restarts: int) -> None:
        self._restarts = restarts
        self._lines: queue.Queue[tuple[LaunchTask, str, IO[str]]] = queue.Queue()
        self._screen = _Screen(tasks)
        self._started = time.monotonic()
        self._training_ended: float | None = None
        self._failed: int | None = None
        self.running: list[_TaskProcess] = []
        for task in tasks:
            self.running.append(_TaskProcess(task, self._lines))

    def run(self) -> int:
        """Until all are over; returns the exit code."""
        while any(one.code is None for one in self.running):
            self._print_lines(0.2)
            for one in self.running:
                if one.code is None and one.process.poll() is not None:
                    one.drain()
                    self._print_lines(0.0)
                    self._ended(one, one.process.returncode)
            self._end_servers_left()
            self._screen.status(self.running, time.monotonic() - self._started)
        self._print_lines(0.0)
        self._screen.launcher_line(f"all tasks have ended{'' if not self._failed else f'; exit code {self._failed}'}")
        return self._failed or 0

    def end_all(self, why: str) -> None:
        """Ends all tasks: first by SIGTERM, so that the chief can save; after a while by SIGKILL."""
        left = [one for one in self.running if one.code is None]
        if not left:
            return
        self._screen.launcher_line(f"{why}: ending {', '.join(one.task.name for one in left)}")
        # The chief first, while the servers it needs to save are up; servers last.
        for kinds in (("chief",), ("worker", "evaluator"), ("ps",)):
            group = [one for one in left if one.task.kind in kinds]
            for number in (signal.SIGTERM, signal.SIGKILL):
                for one in group:
                    one.send_signal(number)
                until = time.monotonic() + _ENDING_SECS
                while time.monotonic() < until and any(one.process.poll() is None for one in group):
                    self._print_lines(0.1)
        for one in left:
            one.drain()
            one.code = one.process.poll()
        self._print_lines(0.0)

    def _print_lines(self, seconds: float) -> None:
        """Prints the queued lines; waits at most `seconds` for the first."""
        try:
            while True:
                self._screen.line(*self._lines.get(timeout=seconds) if seconds else self._lines.get_nowait())
                seconds = 0.0
        except queue.Empty:
            return

    def _ended(self, one: _TaskProcess, code: int) -> None:
        name = one.task.name
        if code == 0:
            one.code = 0
            self._screen.launcher_line(f"{name} has ended")
        elif one.starts <= self._restarts:
            self._screen.launcher_line(
                f"{name} died ({_exit_reason(code)}); started again, {one.starts} of {self._restarts}. At most the "
                "steps since the last checkpoint are lost"
            )
            one.start()
            return
        else:
            one.code = code
            self._failed = self._failed or (code if code > 0 else 128 - code)
            self._screen.launcher_line(
                f"{name} died ({_exit_reason(code)}){'' if self._restarts else '; --restart would start it again'}"
            )
            if one.task.is_vital:
                self.end_all(f"nothing can go on without {name}")
        trainers = [other for other in self.running if other.task.kind in ("chief", "worker")]
        if self._training_ended is None and all(other.code is not None for other in trainers):
            self._training_ended = time.monotonic()

    def _end_servers_left(self) -> None:
        """End the servers of a training by `train` alone: nothing tells them that it has ended."""
        if self._training_ended is None or time.monotonic() - self._training_ended < _SERVER_SECS:
            return
        for one in self.running:
            if one.code is None and one.task.kind == "ps":
                one.send_signal(signal.SIGTERM)
                one.process.wait(timeout=_ENDING_SECS)
                one.code = 0
                self._screen.launcher_line(f"{one.task.name} was ended: nobody trains any more")


def run_all(tasks: Sequence[LaunchTask], restarts: int) -> int:
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
            one.send_signal(signal.SIGKILL)


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _exit_reason(code: int) -> str:
    return f"exit code {code}" if code > 0 else f"signal {signal.Signals(-code).name}"
