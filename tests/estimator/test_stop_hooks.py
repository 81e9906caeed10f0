"""The stopping hooks by a metric: what they say, and what they read. Where they stop is in tests/parity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.parity.stopping_scenes import write

import lightwell as lw
from lightwell.errors import UnknownMetric

hooks = lw.estimator.experimental
EVERY_STEP = {"run_every_secs": None, "run_every_steps": 1}


def last_step(est: lw.Estimator) -> int:
    return int(est.get_variable_value("global_step"))


def test_evaluations_of_the_same_model_are_looked_at(tmp_path: Path, log: LogLines) -> None:
    est = tiny.trained(tmp_path, steps=3)
    est.evaluate(tiny.once)
    est.evaluate(tiny.once, name="other")
    for directory in (None, est.eval_dir("other")):
        before = last_step(est)
        hook = hooks.stop_if_lower_hook(est, "mae", 1000, eval_dir=directory, **EVERY_STEP)
        est.train(tiny.data, steps=5, hooks=[hook])
        assert last_step(est) == before + 1
    assert len(log.having('At step 3, metric "mae" has value ')) == 2


def test_a_metric_that_no_evaluation_has_is_named_with_the_nearest(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path)
    est.evaluate(tiny.once)
    with pytest.raises(UnknownMetric) as told:
        est.train(tiny.data, steps=2, hooks=[hooks.stop_if_no_decrease_hook(est, "lose", 10, **EVERY_STEP)])
    assert isinstance(told.value, KeyError | ValueError)
    assert str(told.value) == (
        f"stop_if_no_decrease_hook: the evaluations in {est.eval_dir()} have no metric 'lose'. Did you mean 'loss'? "
        "There are: loss, mae."
    )


def test_steps_at_which_something_else_was_written_are_passed_over(tmp_path: Path) -> None:
    """The original failed as soon as anything else stood in the directory."""
    est = tiny.estimator(tmp_path)
    write(est.eval_dir(), [(1, {"images": 1.0}), (2, {"m": 0.9})])
    est.train(tiny.data, steps=4, hooks=[hooks.stop_if_higher_hook(est, "m", 0.5, **EVERY_STEP)])
    assert last_step(est) == 1


def test_the_best_is_told_when_it_stops(tmp_path: Path, log: LogLines) -> None:
    est = tiny.estimator(tmp_path)
    write(est.eval_dir(), [(10, {"m": 0.5}), (20, {"m": 0.75}), (30, {"m": 0.5})])
    est.train(tiny.data, steps=4, hooks=[hooks.stop_if_no_increase_hook(est, "m", 10, **EVERY_STEP)])
    assert log.having('No increase in metric "m" for 10 steps')
    assert log.having("Its best value is 0.75, at step 20.")


def test_files_are_read_once_until_they_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    est, opened = tiny.estimator(tmp_path), []
    write(est.eval_dir(), [(1, {"m": 0.1})])
    read = tf.compat.v1.train.summary_iterator
    monkeypatch.setattr(tf.compat.v1.train, "summary_iterator", lambda path: opened.append(path) or read(path))
    hook = hooks.stop_if_higher_hook(est, "m", 0.5, **EVERY_STEP)
    est.train(tiny.data, steps=20, hooks=[hook])
    assert len(opened) == 1
    write(f"{est.eval_dir()}", [(2, {"m": 0.9})])
    est.train(tiny.data, steps=20, hooks=[hook])
    assert last_step(est) == 21


@pytest.mark.parametrize(
    "make",
    [
        lambda est: hooks.make_early_stopping_hook(est, lambda: False),
        lambda est: hooks.stop_if_higher_hook(est, "m", 1),
        lambda est: hooks.stop_if_lower_hook(est, "m", 1),
        lambda est: hooks.stop_if_no_increase_hook(est, "m", 1),
        lambda est: hooks.stop_if_no_decrease_hook(est, "m", 1),
        lambda est: hooks.make_stop_at_checkpoint_step_hook(est, 1),
    ],
)
@pytest.mark.parametrize("given", [None, lw.Estimator])
def test_what_is_no_estimator_is_refused(make: Any, given: Any) -> None:
    with pytest.raises(TypeError, match=r"`estimator` must have type `tf.estimator.Estimator`. Got: .*Hand it the Est"):
        make(given)


def test_a_function_and_a_cadence_are_asked_for(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path)
    with pytest.raises(TypeError, match=r"`should_stop_fn` must be callable\. Expected a function .*, got int 3"):
        hooks.make_early_stopping_hook(est, 3)
    with pytest.raises(
        ValueError, match=r"Only one of `run_every_secs` and `run_every_steps` must be set, got 60 and 5"
    ):
        hooks.make_early_stopping_hook(est, bool, run_every_steps=5)
    with pytest.raises(ValueError, match=r"Either every_secs or every_steps should be provided; .*it would never look"):
        hooks.make_early_stopping_hook(est, bool, None, None)
