"""A `train_and_evaluate` that is killed in the middle of an evaluation goes on, and comes to the same numbers."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from tests import tiny
from tests.stories.processes import Trainer, kill
from tests.stories.test_killed import RATE, SAVE_EVERY, by_hand, last_step

FINISHED = "training_finished.json"


def errors_by_hand(steps: int) -> np.ndarray:
    w, b = by_hand(steps)
    return np.asarray(w * tiny.X.astype(np.float64) + b - tiny.Y)


def kill_often(trainer: Trainer, model_dir: Path, kills: int, seed: int) -> None:
    moments = random.Random(seed)
    step = -1
    for _ in range(kills):
        training = trainer.train(model_dir, max_steps=10**9, save_every=SAVE_EVERY, rate=RATE, evaluates=True)
        started_at = training.wait_until_it_runs()
        assert step in (-1, started_at), "it goes on from the last complete checkpoint"
        evaluated = training.wait_until_it_evaluates()
        assert evaluated == started_at + SAVE_EVERY
        time.sleep(moments.uniform(0, 0.35))
        kill(training)
        assert training.wait() == -9, training.said()
        step = last_step(model_dir)
        assert step >= evaluated, "what was evaluated is not lost"
        assert not (model_dir / FINISHED).exists()
    goal = step + 2 * SAVE_EVERY
    last = trainer.train(model_dir, max_steps=goal, save_every=SAVE_EVERY, rate=RATE, evaluates=True)
    assert last.wait_until_it_runs() == step
    assert last.wait() == 0, last.said()
    told = json.loads(last.result.read_text())
    assert [one["global_step"] for one in told] == [step + SAVE_EVERY, goal]
    for one in told:
        errors = errors_by_hand(int(one["global_step"]))
        assert np.isclose(one["loss"], np.mean(errors**2), rtol=1e-5), "the numbers of a run that nobody killed"
        assert np.isclose(one["mae"], np.mean(np.abs(errors)), rtol=1e-5)
    assert json.loads((model_dir / FINISHED).read_text())["global_step"] == goal


def test_two_times(trainer: Trainer, tmp_path: Path) -> None:
    kill_often(trainer, tmp_path / "model", kills=2, seed=1)


@pytest.mark.slow
def test_twenty_times(trainer: Trainer, tmp_path: Path) -> None:
    kill_often(trainer, tmp_path / "model", kills=20, seed=2)


def test_in_the_very_last_evaluation(trainer: Trainer, tmp_path: Path) -> None:
    """Nothing is left to train then; the evaluation is made up for."""
    model_dir = tmp_path / "model"
    training = trainer.train(model_dir, max_steps=SAVE_EVERY, save_every=SAVE_EVERY, rate=RATE, evaluates=True)
    assert training.wait_until_it_evaluates() == SAVE_EVERY
    kill(training)
    assert training.wait() == -9, training.said()
    again = trainer.train(model_dir, max_steps=SAVE_EVERY, save_every=SAVE_EVERY, rate=RATE, evaluates=True)
    assert again.wait() == 0, again.said()
    (told,) = json.loads(again.result.read_text())
    assert told["global_step"] == SAVE_EVERY
    assert np.isclose(told["loss"], np.mean(errors_by_hand(SAVE_EVERY) ** 2), rtol=1e-5)
    assert json.loads((model_dir / FINISHED).read_text())["global_step"] == SAVE_EVERY


def test_told_to_stop_while_it_evaluates(trainer: Trainer, tmp_path: Path) -> None:
    """It leaves at once, without another evaluation; what was trained is saved, and what is missing is made up for."""
    model_dir = tmp_path / "model"
    training = trainer.train(model_dir, max_steps=SAVE_EVERY, save_every=SAVE_EVERY, rate=RATE, evaluates=True)
    training.wait_until_it_evaluates()
    training.send(signal.SIGTERM)
    assert training.wait() == -signal.SIGTERM, training.said()
    assert "Saving dict for global step" not in training.said()
    assert last_step(model_dir) == SAVE_EVERY
    assert not (model_dir / FINISHED).exists()
    again = trainer.train(model_dir, max_steps=SAVE_EVERY, save_every=SAVE_EVERY, rate=RATE, evaluates=True)
    assert again.wait() == 0, again.said()
    assert [one["global_step"] for one in json.loads(again.result.read_text())] == [SAVE_EVERY]
