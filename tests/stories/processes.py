"""Trainings in other processes, started, watched and ended from here."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import children
from tests.contracts.sources import ROOT

PATIENCE = 300.0


@dataclass
class Training:
    """One training process."""

    trainer: Trainer
    pid: int
    started: Path
    stderr: Path
    evaluating: Path
    result: Path

    def wait_until_it_runs(self) -> int:
        """Waits for the session to be open; the step at which training starts."""
        return self._wait_for(self.started)

    def wait_until_it_evaluates(self) -> int:
        """Waits for the session of an evaluation to be open; the step that is evaluated."""
        return self._wait_for(self.evaluating)

    def wait_until_it_says(self, pattern: str) -> None:
        """Waits for a line on its standard error."""
        self._wait(lambda: bool(re.search(pattern, self.said())))

    def _wait_for(self, file: Path) -> int:
        self._wait(lambda: file.exists() and bool(file.read_text()))
        return int(file.read_text())

    def _wait(self, holds: Callable[[], bool]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > give_up:
                raise TimeoutError(self.said())
            time.sleep(0.002)

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """The exit code; minus the number of the signal that ended it."""
        return int(self.trainer.read())

    def said(self) -> str:
        return self.stderr.read_text() if self.stderr.is_file() else ""


class Trainer:
    """The process that the trainings are forks of."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._numbers = itertools.count()
        environment = children.environment(ROOT, TF_CPP_MIN_LOG_LEVEL="3")
        environment.pop("COLUMNS", None)  # of the terminal that runs the tests; theirs have widths of their own
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("trainer.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def train(
        self,
        model_dir: Path,
        max_steps: int,
        save_every: int,
        rate: float = 1e-6,
        stderr: Path | None = None,
        evaluates: bool = False,
    ) -> Training:
        """Starts a training; one that `evaluates` does so, slowly, at each checkpoint."""
        number = next(self._numbers)
        started, evaluating, result = (
            self._directory / f"{what}-{number}" for what in ("started", "evaluating", "result")
        )
        stderr = stderr or self._directory / f"stderr-{number}"
        settings: dict[str, Any] = {
            "model_dir": str(model_dir),
            "max_steps": max_steps,
            "save_every": save_every,
            "rate": rate,
            "started": str(started),
            "stderr": str(stderr),
            "evaluating": str(evaluating) if evaluates else "",
            "result": str(result),
        }
        stdin = self._process.stdin
        if stdin is None:
            raise RuntimeError("The trainer was started without a pipe.")
        stdin.write(json.dumps(settings) + "\n")
        stdin.flush()
        return Training(self, int(self.read()), started, stderr, evaluating, result)

    def read(self) -> str:
        stdout = self._process.stdout
        if stdout is None:
            raise RuntimeError("The trainer was started without a pipe.")
        return stdout.readline().strip()

    def close(self) -> None:
        # Not `communicate`: a training that was left to itself may hold the other end of its pipe for long.
        with self._process:
            self._process.kill()


def kill(training: Training) -> None:
    """Ends a process as a power cut would."""
    training.send(signal.SIGKILL)
