"""Fused or one by one, a training is the same: the same calls of hooks, files, log lines and weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from tests.conftest import LogLines
from tests.engine import fused_models as models
from tests.engine.fused_runs import Look, batches, train

import lightwell as lw
from lightwell.config import default_session_config
from lightwell.engine.build import Recipe, build
from lightwell.engine.session import SessionPlan
from lightwell.engine.train_session import TrainSession
from lightwell.hooks.base import ScheduledHook

v1 = tf.compat.v1
SMALL = ["the_mean:0", "the_sums:0"]


@pytest.mark.parametrize("model", models.ALL.values(), ids=models.ALL)
def test_every_kind_of_step_ends_in_the_same_weights(tmp_path: Path, model: Any) -> None:
    single = train(tmp_path / "single", model, False, hooks=[Look(7, SMALL)])
    fused = train(tmp_path / "fused", model, "auto", hooks=[Look(7, SMALL)])
    single.check_same(fused)
    assert fused.error == ""
    assert [look[1] for look in fused.looks[0]] == [7, 14, 21]


@pytest.fixture
def old_control_flow() -> Iterator[None]:
    v1.disable_control_flow_v2()
    yield
    v1.enable_control_flow_v2()


@pytest.mark.parametrize("model", [models.cond, models.while_loop, models.lstm])
def test_old_control_flow_fuses_too(tmp_path: Path, model: Any, old_control_flow: None) -> None:
    train(tmp_path / "single", model, False).check_same(train(tmp_path / "fused", model, "auto"))


# Cadences of checkpoints, log lines, summaries and two looks; the goal; where the data end and where the loss is lost.
SCHEDULES = st.fixed_dictionaries(
    {
        "save": st.integers(1, 12),
        "log": st.integers(1, 12),
        "summaries": st.none() | st.integers(1, 12),
        "look": st.integers(1, 12),
        "bulk": st.integers(1, 4),
        "goal": st.integers(1, 30),
        "data": st.none() | st.integers(0, 30),
        "nan": st.none() | st.integers(2, 30),
        "stop": st.none() | st.integers(1, 30),
        "most": st.just("auto") | st.integers(1, 9),
    }
)


# No shrinking: an example takes seconds, and the plan that failed says enough.
@hypothesis.settings(max_examples=8, deadline=None, derandomize=True, database=None, phases=[hypothesis.Phase.generate])
@hypothesis.given(plan=SCHEDULES)
def test_any_schedule_is_kept(tmp_path_factory: pytest.TempPathFactory, plan: dict[str, Any]) -> None:
    model = models.dropout if plan["nan"] is None else models.nan_at(plan["nan"])

    def run(fuse_steps: Any) -> Any:
        stop = {"stop_at": plan["stop"]} if plan["stop"] else {}
        return train(
            tmp_path_factory.mktemp("run"),
            model,
            fuse_steps,
            hooks=[Look(plan["look"], ["Relu:0", "the_mean:0"], **stop), Look(plan["bulk"], SMALL, in_bulk=True)],
            data=batches(plan["data"]),
            steps=plan["goal"],
            save_checkpoints_steps=plan["save"],
            log_step_count_steps=plan["log"],
            save_summary_steps=plan["summaries"],
        )

    run(False).check_same(run(plan["most"]))


def test_who_looks_changes_nothing(tmp_path: Path) -> None:
    unwatched = train(tmp_path / "unwatched", models.dropout, "auto", save_summary_steps=None)
    hooks = [Look(3, SMALL), Look(1, SMALL, in_bulk=True)]
    watched = train(tmp_path / "watched", models.dropout, "auto", hooks=hooks)
    for name, value in unwatched.weights.items():
        np.testing.assert_array_equal(value, watched.weights[name], err_msg=name)


@pytest.mark.parametrize("stride", [0, 2, 3])
def test_a_counter_that_does_not_move_by_one(tmp_path: Path, stride: int) -> None:
    runs = [
        train(tmp_path / str(fuse), models.counting_by(stride), fuse, hooks=[Look(4, SMALL)], data=batches(21))
        for fuse in (False, "auto")
    ]
    runs[0].check_same(runs[1])


def test_a_nan_is_told_with_its_step_however_many_steps_the_call_had(tmp_path: Path) -> None:
    cadences = {"save_checkpoints_steps": 1000, "log_step_count_steps": 1000, "save_summary_steps": 1000}
    seen = train(tmp_path, models.nan_at(19), "auto", steps=30, **cadences)
    assert seen.error.startswith("NanLossError: NaN loss during training, at step 19.")
    assert "ERROR Model diverged with loss = NaN." in seen.lines


class Advancing:
    """A training session that is driven by hand."""

    def __init__(
        self, directory: Path, model: Any, hooks: list[Any], fuse_steps: Any = "auto", data: Any = None
    ) -> None:
        config = lw.RunConfig(model_dir=str(directory), tf_random_seed=1)
        self.program = build(Recipe(model, data or batches(), lw.ModeKeys.TRAIN, {}, config))
        plan = SessionPlan(lambda: None, config=default_session_config())
        self.session = TrainSession(self.program, hooks, plan, fuse_steps)

    def __enter__(self) -> TrainSession:
        self._graph = self.program.graph.as_default()
        self._graph.__enter__()
        self.session.start()
        return self.session

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.session.finish(error or RuntimeError("the test is over"))
        self._graph.__exit__(kind, error, trace)


def advance(run: TrainSession, calls: int) -> None:
    for _ in range(calls):
        run.advance()


def test_a_number_is_the_most_steps_of_a_call(tmp_path: Path) -> None:
    with Advancing(tmp_path, models.dropout, [], fuse_steps=3) as run:
        steps = [0]
        for _ in range(8):
            run.advance()
            steps.append(run.global_step or 0)
    assert max(np.diff(steps)) == 3


def test_a_step_that_fails_leaves_those_before_it(tmp_path: Path) -> None:
    def fails_at_eleven(features: Any, labels: Any, mode: str) -> Any:
        at = v1.train.get_global_step().read_value()
        with tf.control_dependencies([v1.debugging.assert_less(at, tf.constant(10, tf.int64))]):
            return models.dropout({**features, "x": tf.identity(features["x"])}, labels, mode)

    with Advancing(tmp_path, fails_at_eleven, []) as run:
        with pytest.raises(tf.errors.InvalidArgumentError):
            advance(run, 100)
        assert run.global_step == 10
        assert run.loss is not None


class Asks(ScheduledHook):
    """Asks for, and feeds, what it is told to."""

    def __init__(self, fetches: Any, looks_at: Any = None, feeds: Any = None) -> None:
        self.fetches, self.announced, self.feeds = fetches, looks_at, feeds
        self.results: list[Any] = []

    def looks_at(self) -> Any:
        return self.announced

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.fetches, feed_dict=self.feeds)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.results.append(run_values.results)


@pytest.mark.parametrize("in_bulk", [False, True])
def test_what_was_not_announced_cannot_be_had(tmp_path: Path, in_bulk: bool) -> None:
    hook = Asks("the_mean:0", looks_at={"sums": "the_sums:0"} if in_bulk else None)
    hook.in_bulk = in_bulk
    text = r"A scheduled hook asked for 'the_mean:0', which its looks_at\(\) did not name.*return it from looks_at"
    with (
        Advancing(tmp_path, models.dropout, [hook]) as run,
        pytest.raises(lw.errors.HookError, match=text),
    ):
        run.advance()


def test_only_placeholders_can_be_fed(tmp_path: Path) -> None:
    text = "A scheduled hook feeds 'the_mean:0'. Steps are fused, and only placeholders can be fed"
    with (
        Advancing(tmp_path, models.dropout, [Asks(None, feeds={"the_mean:0": 1.0})]) as run,
        pytest.raises(lw.errors.HookError, match=text),
    ):
        run.advance()


def test_a_placeholder_is_fed_into_fused_steps(tmp_path: Path) -> None:
    def scaled(features: Any, labels: Any, mode: str) -> Any:
        scale = v1.placeholder_with_default(tf.constant(1.0), [], "scale")
        tf.multiply(scale, 10, name="ten_times")
        return models.dropout({**features, "x": features["x"] * scale}, labels, mode)

    hook = Asks("ten_times:0", looks_at="ten_times:0", feeds={"scale:0": 0.5})
    with Advancing(tmp_path, scaled, [hook]) as run:
        run.advance()
    assert hook.results == [5.0]


def test_a_lost_session_is_opened_again(tmp_path: Path, log: LogLines) -> None:
    class LosesIt(Look):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            super().after_run(run_context, run_values)
            if len(self.seen) == 2:
                raise tf.errors.AbortedError(None, None, "gone")

    runs = [train(tmp_path / str(fuse), models.dropout, fuse, hooks=[LosesIt(6, SMALL)]) for fuse in (False, "auto")]
    runs[0].check_same(runs[1])
    assert [look[1] for look in runs[1].looks[0]] == [6, 12, 12, 18]


def test_one_by_one_says_why(tmp_path: Path, log: LogLines) -> None:
    import logging

    logging.getLogger("tensorflow").setLevel(logging.DEBUG)
    with Advancing(tmp_path, models.dropout, [], fuse_steps=False) as run:
        run.advance()
    assert log.having("one by one") == ["DEBUG Training steps run one by one: RunConfig.fuse_steps is off."]
