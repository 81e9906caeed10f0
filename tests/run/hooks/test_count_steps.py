"""Steps per second, logged and written."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests import tiny
from tests.conftest import LogLines
from tests.run.hooks.conftest import Clock, LosesSession
from tests.run.hooks.event_files import values

TAG = "global_step/sec"


def measured(directory: Path, steps: int, every: int, hooks: Any = ()) -> list[tuple[int, float]]:
    made = tiny.estimator(directory, log_step_count_steps=every, save_checkpoints_steps=1)
    made.train(tiny.data, steps=steps, hooks=list(hooks))
    return values(directory, TAG)


def test_the_first_step_starts_the_clock_and_each_so_many_is_measured(tmp_path: Path, log: LogLines) -> None:
    assert [step for step, _ in measured(tmp_path, 10, every=4)] == [5, 9]
    lines = log.having(TAG)
    assert len(lines) == 2
    assert all(re.fullmatch(r"INFO global_step/sec: [\d.e+]+", line) for line in lines)


def test_the_measure_is_steps_over_time(tmp_path: Path, clock: Clock) -> None:
    ((step, rate),) = measured(tmp_path, 6, every=5, hooks=[clock.each_step(1000.0)])
    assert step == 6
    assert rate == pytest.approx(1e-3, rel=0.01)


def test_opening_a_session_is_not_counted(tmp_path: Path) -> None:
    assert [step for step, _ in measured(tmp_path, 6, every=2, hooks=[LosesSession(at=3)])] == [5]


def test_a_clock_that_stands_still_gives_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 100.0)
    assert measured(tmp_path, 3, every=1) == []
