"""Training stops exactly at its goal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.run.engine.fused_runs import Calls
from tests.run.hooks.conftest import LosesSession

import lightwell as lw

v1 = tf.compat.v1


@pytest.fixture(scope="module", params=[False, "auto"], ids=["single", "fused"])
def est(request: Any, tmp_path_factory: Any) -> lw.Estimator:
    return tiny.estimator(tmp_path_factory.mktemp("model"), fuse_steps=request.param)


def last_step(est: lw.Estimator) -> int:
    return int(est.get_variable_value("global_step"))


def test_so_many_more_steps_or_up_to_a_step(est: lw.Estimator) -> None:
    reached = []
    for goal in ({"steps": 1}, {"steps": 3}, {"steps": 1.5}, {"max_steps": 8}, {"max_steps": 9.5}, {"max_steps": 40}):
        est.train(tiny.data, **goal)
        reached.append(last_step(est))
    assert reached == [1, 4, 6, 8, 10, 40]


def test_a_new_session_does_not_move_the_goal(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=2)
    made.train(tiny.data, steps=7, hooks=[LosesSession(at=5)])
    assert last_step(made) == 7


def test_steps_are_not_looked_at_on_the_way(tmp_path: Path) -> None:
    """Two, to see the counter move; then all up to the goal may run in one call."""
    calls = Calls()
    quiet = {"save_checkpoints_steps": None, "log_step_count_steps": None, "save_summary_steps": None}
    tiny.estimator(tmp_path, **quiet).train(tiny.data, steps=2000, hooks=[calls])
    assert sum(calls.steps) == 2000
    assert len(calls.steps) < 200


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_a_counter_that_stands_still_is_told_once(tmp_path: Path, log: LogLines, fuse_steps: Any) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear(features, labels, mode, {})._replace(train_op=tf.no_op())

    tiny.estimator(tmp_path, model_fn, fuse_steps=fuse_steps).train(lambda: tiny.data(repeat=20), max_steps=5)
    (line,) = log.having("The global step is still 0 after another training step")
    assert line.startswith("WARNING")
    assert "global_step=tf.compat.v1.train.get_global_step() to optimizer.minimize" in line
