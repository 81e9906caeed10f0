"""Steps per second, logged and written."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf
from tests.conftest import LogLines
from tests.hooks.steps import seen_steps, values

from lightwell.hooks import count_steps
from lightwell.hooks.count_steps import CountSteps


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_the_first_step_starts_the_clock_and_each_so_many_is_measured(tmp_path: Path, log: LogLines) -> None:
    assert seen_steps(CountSteps(4, str(tmp_path)), range(1, 11)) == [1, 5, 9]
    assert [(step, tag) for step, tag, _ in values(tmp_path)] == [(5, "global_step/sec"), (9, "global_step/sec")]
    lines = log.having("global_step")
    assert len(lines) == 2
    assert all(re.fullmatch(r"INFO global_step/sec: [\d.e+]+", line) for line in lines)


def test_the_measure_is_steps_over_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 102.0])
    monkeypatch.setattr(count_steps, "time", SimpleNamespace(time=lambda: next(clock)))
    assert seen_steps(CountSteps(10, str(tmp_path)), [1, 11]) == [1, 11]
    assert [value for _, _, value in values(tmp_path)] == [5.0]


def test_opening_a_session_is_not_counted(tmp_path: Path) -> None:
    hook = CountSteps(2, str(tmp_path))
    seen_steps(hook, [1, 2])
    hook.after_create_session(None, None)
    assert seen_steps(hook, [3, 4, 5]) == [3, 5]
    assert [step for step, _, _ in values(tmp_path)] == [5]


def test_a_clock_that_stands_still_gives_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_steps, "time", SimpleNamespace(time=lambda: 100.0))
    seen_steps(CountSteps(1, str(tmp_path)), [1, 2])
    assert values(tmp_path) == []
