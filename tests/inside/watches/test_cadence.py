"""When a watch looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


def _looks(cadence: dict[str, Any], directory: Path, last: int, fuse_steps: Any, stride: int = 1) -> list[int]:
    """The steps that a watch looks at in a training up to a step."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        counted = v1.assign_add(v1.train.get_global_step(), stride)
        return lw.EstimatorSpec(mode, loss=tf.reduce_mean(labels), train_op=counted)

    seen: list[int] = []
    watch = lw.Watch("loss", **cadence, do=lambda step: seen.append(step.global_step))
    quiet = {"save_checkpoints_steps": 10**6, "log_step_count_steps": None, "save_summary_steps": None}
    made = tiny.estimator(directory, model_fn, fuse_steps=fuse_steps, **quiet)
    made.train(tiny.data, max_steps=last, hooks=[watch])
    return seen


BOTH_WAYS = pytest.mark.parametrize("fuse_steps", ["auto", False])


@BOTH_WAYS
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, [100, 200]),
        ({"every": 70}, [70, 140, 210]),
        ({"every": np.int64(70)}, [70, 140, 210]),
        ({"at": [5, 1, 5, 150, 900]}, [1, 5, 150]),
        ({"at": []}, []),
        ({"at": (3, 4)}, [3, 4]),
    ],
    ids=str,
)
def test_steps(given: Any, expected: list[int], fuse_steps: Any, tmp_path: Path) -> None:
    assert _looks(given, tmp_path, 250, fuse_steps) == expected


@BOTH_WAYS
def test_steps_that_are_jumped_over_are_looked_at_once_they_are_passed(fuse_steps: Any, tmp_path: Path) -> None:
    assert _looks({"every": 10}, tmp_path / "every", 40, fuse_steps, stride=4) == [12, 20, 32, 40]
    assert _looks({"at": [1, 2, 9]}, tmp_path / "at", 12, fuse_steps, stride=4) == [4, 12]


@BOTH_WAYS
def test_a_run_that_goes_on_from_a_step_keeps_the_rhythm(fuse_steps: Any, tmp_path: Path) -> None:
    assert _looks({"every": 10}, tmp_path, 17, fuse_steps) == [10]
    assert _looks({"every": 10}, tmp_path, 41, fuse_steps) == [20, 30, 40]


def test_the_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    class MovesTheClock(v1.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            now[0] += 1.0

    seen: list[int] = []
    watch = lw.Watch("loss", every_secs=2.5, do=lambda step: seen.append(step.global_step))
    tiny.estimator(tmp_path).train(tiny.data, steps=10, hooks=[watch, MovesTheClock()])
    assert seen == [4, 7, 10]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"every": 0}, "w: every must be a whole number of at least 1, got 0."),
        ({"every": 2.5}, "w: every must be a whole number of at least 1, got 2.5."),
        ({"every": True}, "w: every must be a whole number"),
        ({"every": 2, "at": [1]}, "w: choose one cadence, got every and at."),
        ({"every": 2, "every_secs": 1}, "w: choose one cadence, got every and every_secs."),
        ({"at": 5}, r"w: at must be a list of step numbers, as in at=\[1, 10, 100\]; got 5."),
        ({"at": [1, "two"]}, "w: at must be a list of step numbers"),
        ({"every_secs": 0}, "w: every_secs must be a number of more than 0, got 0."),
        ({"every_secs": "1"}, "w: every_secs must be a number of more than 0, got '1'."),
    ],
    ids=str,
)
def test_a_cadence_that_makes_no_sense(given: dict[str, Any], text: str) -> None:
    with pytest.raises(lw.errors.UsageError, match=text):
        lw.Watch("loss", name="w", **given)
