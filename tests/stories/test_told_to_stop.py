"""Ctrl-C and SIGTERM: the work is saved, and the process ends the way it was told to."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from tests.stories.processes import Trainer
from tests.stories.test_killed import last_step


@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "Ctrl-C")], ids=["SIGTERM", "SIGINT"]
)
def test_a_checkpoint_is_saved_and_the_exit_status_tells_the_signal(
    trainer: Trainer, tmp_path: Path, number: int, word: str
) -> None:
    training = trainer.train(tmp_path, max_steps=10**9, save_every=10**8)
    assert training.wait_until_it_runs() == 0
    training.wait_until_it_says(r"step = [1-9]")
    training.send(number)
    assert training.wait() == -number, training.said()
    said = training.said()
    assert f"WARNING:tensorflow:{word}: saving a checkpoint before leaving." in said
    saved = [int(step) for step in re.findall(r"Saving checkpoints for (\d+) into", said)]
    assert len(saved) == 2
    assert saved[1] > 0
    assert last_step(tmp_path) == saved[1]
    again = trainer.train(tmp_path, max_steps=saved[1] + 5, save_every=10**8)
    assert again.wait_until_it_runs() == saved[1]
    assert again.wait() == 0, again.said()


def test_told_while_it_saves_for_the_last_time_it_saves_first(trainer: Trainer, tmp_path: Path) -> None:
    """The signal comes at random moments around the end of training: the exit status may be either, never an error."""
    codes = []
    for goal in (1, 2, 3):
        training = trainer.train(tmp_path, max_steps=goal, save_every=10**8)
        training.wait_until_it_runs()
        training.send(signal.SIGTERM)
        codes.append(training.wait())
        assert "Traceback" not in training.said()
    assert set(codes) <= {0, -signal.SIGTERM}
    assert last_step(tmp_path) >= 0


def test_told_twice_it_still_leaves(trainer: Trainer, tmp_path: Path) -> None:
    training = trainer.train(tmp_path, max_steps=10**9, save_every=10**8)
    training.wait_until_it_says(r"step = [1-9]")
    training.send(signal.SIGTERM)
    training.send(signal.SIGTERM)
    assert training.wait() == -signal.SIGTERM, training.said()
    assert last_step(tmp_path) >= 0
    assert "Traceback" not in training.said()
