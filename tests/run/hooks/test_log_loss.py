"""The log line of training."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import tiny
from tests.conftest import LogLines
from tests.run.engine.fused_models import counting_by
from tests.run.engine.fused_runs import batches
from tests.run.hooks.conftest import LosesSession

import lightwell as lw


def logged(log: LogLines) -> list[int]:
    """The steps in the lines."""
    found = [re.search(r"INFO loss = .*, step = (\d+)", line) for line in log.lines]
    return [int(match.group(1)) for match in found if match]


def test_the_first_step_then_each_so_many(tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path, log_step_count_steps=3)
    made.train(tiny.data, steps=10)
    assert logged(log) == [0, 3, 6, 9], "the step before, as readers of these lines expect"
    log.lines.clear()
    made.train(tiny.data, steps=4)
    assert logged(log) == [10, 13]


def test_the_line_tells_the_loss_and_the_time_it_took(tmp_path: Path, log: LogLines) -> None:
    tiny.estimator(tmp_path, log_step_count_steps=1).train(tiny.data, steps=2)
    first, second = log.having("loss = ")
    assert first == f"INFO loss = {np.square(tiny.X[:4]).mean()}, step = 0"
    assert re.fullmatch(r"INFO loss = [\d.]+, step = 1 \(\d+\.\d{3} sec\)", second)


def test_a_new_session_starts_with_a_line(tmp_path: Path, log: LogLines) -> None:
    made = tiny.estimator(tmp_path, log_step_count_steps=100, save_checkpoints_steps=1)
    made.train(tiny.data, steps=5, hooks=[LosesSession(at=3)])
    assert logged(log) == [0, 2]


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_it_is_steps_that_are_counted_not_how_far_they_move_the_counter(
    tmp_path: Path, log: LogLines, fuse_steps: Any
) -> None:
    config = lw.RunConfig(str(tmp_path), log_step_count_steps=3, fuse_steps=fuse_steps)
    lw.Estimator(counting_by(2), config=config).train(batches(7))
    assert logged(log) == [0, 6, 12]
