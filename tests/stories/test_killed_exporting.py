"""A run that is killed while it exports leaves no half export for a server, and the best value stays what it was."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import children, tiny
from tests.contracts.sources import ROOT
from tests.stories.processes import PATIENCE

import lightwell as lw
from lightwell.run.checkpoints.reader import variable_value


class Exporting:
    """The process whose forks export."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        environment = children.environment(ROOT, TF_CPP_MIN_LOG_LEVEL="3")
        command = [sys.executable, str(Path(__file__).with_name("exporting.py")), str(folder / "ready")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def start(self, model_dir: Path, rounds: int) -> int:
        """Starts a run; its process id."""
        assert self.process.stdin is not None
        settings = {
            "model_dir": str(model_dir),
            "rounds": rounds,
            "exporting": str(self.exporting),
            "stderr": str(self._folder / "stderr"),
        }
        self.exporting.unlink(missing_ok=True)
        self.process.stdin.write(json.dumps(settings) + "\n")
        self.process.stdin.flush()
        return int(self.read())

    @property
    def exporting(self) -> Path:
        return self._folder / "exporting"

    def wait_until_it_exports(self, rounds: int) -> None:
        give_up = time.monotonic() + PATIENCE
        while not (self.exporting.exists() and len(self.exporting.read_text().splitlines()) >= rounds):
            if time.monotonic() > give_up:
                raise TimeoutError(self.said())
            time.sleep(0.001)

    def read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def said(self) -> str:
        file = self._folder / "stderr"
        return file.read_text() if file.is_file() else ""


@pytest.fixture
def exporting(tmp_path: Path) -> Iterator[Exporting]:
    made = Exporting(tmp_path)
    yield made
    made.process.communicate(timeout=PATIENCE)


def loss_of(folder: Path) -> float:
    """The loss of an export, loaded as a server would and called."""
    served = tf.saved_model.load(str(folder)).signatures["serving_default"]
    out = served(x=tf.constant(tiny.X))["out"].numpy()
    batches = [np.square(out[i : i + 4] - tiny.Y[i : i + 4]).mean() for i in (0, 4)]
    return float(np.mean(batches))


class Watcher:
    """What others see of the exports of a model."""

    def __init__(self, model_dir: Path) -> None:
        self.model_dir = model_dir
        self.best = self.model_dir / "export" / "best"

    def versions(self, name: str) -> list[Path]:
        folder = self.model_dir / "export" / name
        numbered = [path for path in folder.iterdir() if path.name.isdigit()] if folder.is_dir() else []
        return sorted(numbered, key=lambda path: int(path.name))

    def check_all_are_whole(self) -> None:
        for name in ("best", "latest"):
            for folder in self.versions(name):
                assert loss_of(folder) > 0

    def check_best_value(self) -> None:
        """A result a little worse than that of the newest export is refused."""
        versions = self.versions("best")
        if not versions:
            return
        worse = loss_of(versions[-1]) * 1.0001

        class Never:
            model_dir = str(self.model_dir)

            def export_saved_model(self, *given: Any, **named: Any) -> None:
                raise AssertionError(f"exported, though worse: {given}")

        exporter = lw.BestExporter("best", event_file_pattern=None)
        assert exporter.export(Never(), str(self.best), "", {"loss": worse}, False) is None

    def step(self) -> int:
        newest = tf.train.latest_checkpoint(str(self.model_dir))
        return 0 if newest is None else int(variable_value(newest, "global_step"))


def kill_often(exporting: Exporting, model_dir: Path, kills: int, seed: int) -> None:
    moments, watcher = random.Random(seed), Watcher(model_dir)
    cut_short = 0
    for _ in range(kills):
        process, step = exporting.start(model_dir, rounds=100), watcher.step()
        exporting.wait_until_it_exports(rounds=2)
        time.sleep(moments.uniform(0, 0.25))
        os.kill(process, signal.SIGKILL)
        assert exporting.read() == "-9", exporting.said()
        cut_short += any(path.name.startswith("temp-") for path in (model_dir / "export").rglob("temp-*"))
        assert watcher.step() > step, "the run went on from where it was"
        watcher.check_all_are_whole()
        watcher.check_best_value()
    assert cut_short or kills < 10, "no kill hit an export: the test shows nothing"
    step = watcher.step()
    exporting.start(model_dir, rounds=2)
    assert exporting.read() == "0", exporting.said()
    assert watcher.step() == step + 2
    assert [len(watcher.versions(name)) for name in ("best", "latest")] == [3, 2]
    losses = [loss_of(folder) for folder in watcher.versions("best")]
    assert losses == sorted(losses, reverse=True), "each export is better than the one before"
    assert [path.name for path in (model_dir / "export").rglob("temp-*")] == [], "what was cut short is cleared away"


def test_twice(exporting: Exporting, tmp_path: Path) -> None:
    kill_often(exporting, tmp_path / "model", kills=2, seed=1)


@pytest.mark.slow
def test_twenty_times(exporting: Exporting, tmp_path: Path) -> None:
    kill_often(exporting, tmp_path / "model", kills=20, seed=2)
