"""Training stops once a function says so. Where the looks are is held by tests/parity/test_stopping.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.run.engine.fused_models import counting_by
from tests.run.engine.fused_runs import Calls, batches
from tests.run.hooks.conftest import Clock, LosesSession

import lightwell as lw

v1 = tf.compat.v1
STOPPED = "signal_early_stopping/STOP"
QUIET = {"save_checkpoints_steps": None, "log_step_count_steps": None, "save_summary_steps": None}


class Asked:
    """A function that notes how often it is asked, and says yes at one time."""

    def __init__(self, yes_at: int = 0) -> None:
        self.times, self.yes_at = 0, yes_at

    def __call__(self) -> bool:
        self.times += 1
        return self.times == self.yes_at


def stopping(est: lw.Estimator, asked: Any, steps: int | None = None, secs: float | None = None) -> Any:
    return lw.estimator.experimental.make_early_stopping_hook(est, asked, run_every_secs=secs, run_every_steps=steps)


def last_step(est: lw.Estimator) -> int:
    return int(est.get_variable_value("global_step"))


def test_steps_run_in_one_call_between_two_looks(tmp_path: Path) -> None:
    calls, asked, est = Calls(), Asked(yes_at=3), tiny.estimator(tmp_path, **{**QUIET, "save_checkpoints_steps": 5000})
    est.train(tiny.data, steps=2000, hooks=[stopping(est, asked, steps=500), calls])
    assert last_step(est) == 1001
    assert sum(calls.steps) == 1001
    assert len(calls.steps) < 200


def test_a_cadence_in_seconds_leaves_steps_fused_too(tmp_path: Path) -> None:
    calls, asked, est = Calls(), Asked(), tiny.estimator(tmp_path, **QUIET)
    est.train(tiny.data, steps=2000, hooks=[stopping(est, asked, secs=600), calls])
    assert asked.times == 1
    assert len(calls.steps) < 200


def test_seconds_go_by_the_clock(tmp_path: Path, clock: Clock) -> None:
    asked, est = Asked(), tiny.estimator(tmp_path)
    est.train(tiny.data, steps=10, hooks=[clock.each_step(20.0), stopping(est, asked, secs=60)])
    assert asked.times == 3, "at the first step, and at each that begins when a minute is over"


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
@pytest.mark.parametrize(("by", "looks"), [(2, 4), (0, 1)])
def test_steps_that_move_the_counter_otherwise(tmp_path: Path, fuse_steps: Any, by: int, looks: int) -> None:
    """The original asks once the counter, as it was before the step, has moved on by so much: 0, 4, 8, 12."""
    asked = Asked()
    est = lw.Estimator(counting_by(by), config=lw.RunConfig(str(tmp_path), fuse_steps=fuse_steps))
    est.train(batches(8), hooks=[stopping(est, asked, steps=4)])
    assert asked.times == looks


def test_it_can_be_added_to_a_model_that_was_trained_without(tmp_path: Path) -> None:
    """The original failed: its checkpoint had no variable to tell of the stop."""
    est = tiny.trained(tmp_path, steps=2)
    est.train(tiny.data, steps=5, hooks=[stopping(est, Asked(yes_at=2), steps=1)])
    assert last_step(est) == 4
    assert STOPPED not in est.get_variable_names()


def test_the_checkpoint_tells_of_the_stop_and_can_be_used_without_the_hook(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path)
    est.train(tiny.data, steps=5, hooks=[stopping(est, Asked(yes_at=1), steps=1), stopping(est, Asked(), steps=1)])
    assert (last_step(est), bool(est.get_variable_value(STOPPED))) == (1, True)
    est.train(tiny.data, steps=2)
    assert est.evaluate(tiny.once)["global_step"] == 3
    assert "STOP" not in str(est.describe(tiny.data))


def test_a_saver_of_the_model_need_not_know_of_it(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(scaffold=v1.train.Scaffold(saver=v1.train.Saver()))

    est = tiny.estimator(tmp_path, model_fn)
    for expected in (3, 6):
        est.train(tiny.data, steps=3, hooks=[stopping(est, Asked(), steps=1)])
        assert last_step(est) == expected


def test_a_lost_session_changes_nothing(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path, save_checkpoints_steps=1)
    est.train(tiny.data, steps=9, hooks=[stopping(est, Asked(yes_at=3), steps=2), LosesSession(at=4)])
    assert last_step(est) == 5


def test_what_the_function_raises_goes_through(tmp_path: Path) -> None:
    def broken() -> bool:
        raise LookupError("no metrics yet")

    est = tiny.estimator(tmp_path)
    with pytest.raises(LookupError, match="no metrics yet"):
        est.train(tiny.data, steps=2, hooks=[stopping(est, broken, steps=1)])
