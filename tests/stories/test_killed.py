"""A training that is killed at any moment goes on from its last complete checkpoint, and comes to the same result."""

from __future__ import annotations

import random
import time
from pathlib import Path

import numpy as np
import pytest
from tests import tiny
from tests.stories.processes import Trainer, kill

from lightwell.run.checkpoints.index import newest_usable
from lightwell.run.checkpoints.reader import variable_value

RATE = 1e-6
SAVE_EVERY = 3


def last_step(model_dir: Path) -> int:
    """The step of the newest checkpoint that can be read."""
    checkpoint = newest_usable(str(model_dir))
    assert checkpoint is not None
    return int(variable_value(checkpoint, "global_step"))


def by_hand(steps: int) -> np.ndarray:
    """The weight and the bias after so many steps that nobody interrupted."""
    x, y = tiny.X.astype(np.float64), tiny.Y.astype(np.float64)
    w, b = 1.0, 0.0
    for _ in range(steps):
        error = w * x + b - y
        w, b = w - RATE * 2 * (error * x).mean(), b - RATE * 2 * error.mean()
    return np.array([w, b])


def kill_often(trainer: Trainer, model_dir: Path, kills: int, seed: int) -> None:
    moments = random.Random(seed)
    step = -1
    for _ in range(kills):
        training = trainer.train(model_dir, max_steps=10**9, save_every=SAVE_EVERY, rate=RATE)
        started_at = training.wait_until_it_runs()
        assert step in (-1, started_at), "it goes on from the last complete checkpoint"
        time.sleep(moments.uniform(0, 0.3))
        kill(training)
        assert training.wait() == -9, training.said()
        now = last_step(model_dir)
        assert now >= started_at, "and never falls behind it"
        step = now
    goal = step + 10
    last = trainer.train(model_dir, max_steps=goal, save_every=SAVE_EVERY, rate=RATE)
    assert last.wait_until_it_runs() == step
    assert last.wait() == 0, last.said()
    assert last_step(model_dir) == goal
    newest = str(model_dir / f"model.ckpt-{goal}")
    weights = [variable_value(newest, name) for name in ("w", "b")]
    assert np.allclose(weights, by_hand(goal), rtol=1e-5), "the same weights as if nothing had happened"


def test_three_times(trainer: Trainer, tmp_path: Path) -> None:
    kill_often(trainer, tmp_path / "model", kills=3, seed=1)


@pytest.mark.slow
def test_twenty_times(trainer: Trainer, tmp_path: Path) -> None:
    kill_often(trainer, tmp_path / "model", kills=20, seed=2)


def test_killed_while_it_starts(trainer: Trainer, tmp_path: Path) -> None:
    """At random moments between the fork and the first steps: of building, of the first checkpoint."""
    model_dir, moments = tmp_path / "model", random.Random(3)
    for _ in range(4):
        training = trainer.train(model_dir, max_steps=10**9, save_every=SAVE_EVERY)
        time.sleep(moments.uniform(0, 1.0))
        kill(training)
        assert training.wait() == -9, training.said()
        newest_usable(str(model_dir))
    last = trainer.train(model_dir, max_steps=10**9, save_every=SAVE_EVERY)
    last.wait_until_it_runs()
    kill(last)
    assert last.wait() == -9
    assert last_step(model_dir) >= 0
