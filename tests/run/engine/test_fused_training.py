"""Fused or one by one, a training is the same: the same calls of hooks, files, log lines and weights."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import strategies as st
from tests.run.engine import fused_models as models
from tests.run.engine.fused_runs import Calls, Look, batches, train, weights

import lightwell as lw

v1 = tf.compat.v1
SMALL = ["the_mean:0", "the_sums:0"]
QUIET = {"save_checkpoints_steps": 1000, "log_step_count_steps": 1000, "save_summary_steps": 1000}


@pytest.mark.parametrize("model", models.ALL.values(), ids=models.ALL)
def test_every_kind_of_step_ends_in_the_same_weights(tmp_path: Path, model: Any) -> None:
    calls = Calls()
    single = train(tmp_path / "single", model, False, hooks=[Look(7, SMALL)])
    fused = train(tmp_path / "fused", model, "auto", hooks=[Look(7, SMALL), calls])
    single.check_same(fused)
    assert fused.error == ""
    assert [look[1] for look in fused.looks[0]] == [7, 14, 21]
    assert max(calls.steps) > 1, "it was fused"


@pytest.fixture
def old_control_flow() -> Iterator[None]:
    v1.disable_control_flow_v2()
    yield
    v1.enable_control_flow_v2()


@pytest.mark.parametrize("model", [models.cond, models.while_loop, models.lstm])
def test_old_control_flow_fuses_too(tmp_path: Path, model: Any, old_control_flow: None) -> None:
    calls = Calls()
    single = train(tmp_path / "single", model, False)
    single.check_same(train(tmp_path / "fused", model, "auto", hooks=[calls]))
    assert max(calls.steps) > 1


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
    unwatched = train(tmp_path / "unwatched", models.function, "auto", save_summary_steps=None)
    hooks = [Look(2, SMALL), Look(1, SMALL, in_bulk=True)]
    watched = train(tmp_path / "watched", models.function, "auto", hooks=hooks)
    for name, value in unwatched.weights.items():
        np.testing.assert_array_equal(value, watched.weights[name], err_msg=name)


@pytest.mark.parametrize("stride", [0, 2, 3])
def test_a_counter_that_does_not_move_by_one(tmp_path: Path, stride: int) -> None:
    runs = [
        train(tmp_path / str(fuse), models.counting_by(stride), fuse, hooks=[Look(4, SMALL)], data=batches(21))
        for fuse in (False, "auto")
    ]
    runs[0].check_same(runs[1])


@pytest.mark.parametrize(
    ("stride", "goal", "every", "saved"),
    [
        (10, {"steps": 95}, 1000, [0, 110]),
        (3, {"max_steps": 20}, 1000, [0, 24]),
        (2, {"max_steps": 20}, 5, [0, 6, 12, 18, 22]),
        (3, {"steps": 30}, 7, [0, 9, 18, 27, 33]),
    ],
)
@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_goals_and_checkpoints_of_a_counter_that_moves_by_more(
    tmp_path: Path, stride: int, goal: dict[str, int], every: int, saved: list[int], fuse_steps: Any
) -> None:
    """The figures are those of tf.estimator 2.15.1, whose hooks act on the counter before a step, plus one."""
    config = lw.RunConfig(str(tmp_path), save_checkpoints_steps=every, keep_checkpoint_max=99, fuse_steps=fuse_steps)
    lw.Estimator(models.counting_by(stride), config=config).train(batches(), **goal)
    assert sorted(int(file.stem.rpartition("-")[2]) for file in tmp_path.glob("*.index")) == saved


def test_a_nan_is_told_with_its_step_however_many_steps_the_call_had(tmp_path: Path) -> None:
    calls = Calls()
    seen = train(tmp_path, models.nan_at(19), "auto", steps=30, hooks=[calls], **QUIET)
    assert seen.error.startswith("NanLossError: NaN loss during training, at step 19.")
    assert "ERROR Model diverged with loss = NaN." in seen.lines
    assert max(calls.steps) > 1
    assert sum(calls.steps) == 19


def test_what_a_step_leaves_open_comes_out_one_way(tmp_path: Path) -> None:
    """Something follows the global step, and nothing says whether that is read before it is counted or after."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        total = v1.get_variable("total", [], tf.int64, initializer=v1.zeros_initializer(), trainable=False)
        late = v1.get_variable("late", [], tf.float32, initializer=v1.zeros_initializer(), trainable=False)
        step = v1.train.get_global_step()
        loss = tf.reduce_mean(labels)
        follow = [v1.assign_add(total, step + 1), v1.assign_add(late, loss * tf.cast(step + 1, tf.float32))]
        return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(v1.assign(step, step + 1), *follow))

    found = []
    for fuse in ("auto", 7, "auto", False):
        directory = tmp_path / str(len(found))
        train(directory, model_fn, fuse, steps=60, **QUIET)
        found.append([weights(directory)[f"model.ckpt-60: {name}"] for name in ("total", "late")])
    *fused, single = ([value.item() for value in one] for one in found)
    assert fused == fused[:1] * 3
    assert fused[0][0] == 1890  # read after: 2 + 3 + … + 61
    # Single steps leave it to TensorFlow, as the original does: each may read before or after. An edge would make a
    # hook that reads what follows the step, by itself, count a step.
    assert 1830 <= single[0] <= 1890


def test_a_number_is_the_most_steps_of_a_call(tmp_path: Path) -> None:
    calls = Calls()
    train(tmp_path, models.dropout, 3, hooks=[calls], **QUIET)
    assert max(calls.steps) == 3


def test_nothing_of_the_model_changes(tmp_path: Path) -> None:
    """The loop stands in the model's graph, and in none of its collections."""

    class Collections(Calls):
        def after_create_session(self, session: Any, coord: Any) -> None:
            graph = session.graph
            self.found = {key: len(graph.get_collection(key)) for key in graph.get_all_collection_keys()}
            self.names = {op.name for op in graph.get_operations() if not op.name.startswith("lightwell/")}

    single, fused = Collections(), Collections()
    train(tmp_path / "single", models.dropout, False, hooks=[single])
    train(tmp_path / "fused", models.dropout, "auto", hooks=[fused])
    assert fused.found == single.found
    assert fused.names == single.names


def test_steps_before_one_that_fails_have_happened_and_been_told(tmp_path: Path) -> None:
    def fails_at_eleven(features: Any, labels: Any, mode: str) -> Any:
        at = v1.train.get_global_step().read_value()
        with tf.control_dependencies([v1.debugging.assert_less(at, tf.constant(10, tf.int64))]):
            return models.dropout({**features, "x": tf.identity(features["x"])}, labels, mode)

    runs = []
    for fuse in (False, "auto"):
        hooks = [Look(1, SMALL, in_bulk=True)]
        runs.append(train(tmp_path / str(fuse), fails_at_eleven, fuse, hooks=hooks, **QUIET))
        assert runs[-1].error.startswith("InvalidArgumentError")
    assert [look[1] for look in runs[1].looks[0]] == list(range(1, 11))
    assert runs[0].looks == runs[1].looks


def test_a_clock_is_kept_between_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook with a cadence in time is shown a step soon after its time has come, however many a call could have."""
    steps_done = [0]
    for clock in ("perf_counter", "monotonic"):  # a step takes 5 ms, and nothing else takes any time
        monkeypatch.setattr(time, clock, lambda: 0.005 * steps_done[0])

    def one_more(x: Any) -> Any:
        steps_done[0] += 1
        return x

    class EachTenth(lw.ScheduledHook):
        def __init__(self) -> None:
            self.next, self.late = 0.0, []

        def next_look(self, count: int) -> int:
            return 10**9

        def next_look_seconds(self) -> float:
            return self.next - time.monotonic()

        def after_run(self, run_context: Any, run_values: Any) -> None:
            now = time.monotonic()
            self.late.append(now - self.next)
            self.next = now + 0.1

    def counted(features: Any, labels: Any, mode: str) -> Any:
        counted = tf.numpy_function(one_more, [features["x"]], tf.float32)
        return models.dropout({"x": tf.ensure_shape(counted, [None, 6])}, labels, mode)

    hook, calls = EachTenth(), Calls()
    train(tmp_path, counted, "auto", hooks=[hook, calls], steps=100, **QUIET)
    assert len(hook.late) == 5
    assert max(hook.late[1:]) < 0.01
    assert max(calls.steps) > 10, "there were calls of many steps"


class Asks(lw.ScheduledHook):
    """Asks for, and feeds, what it is told to."""

    def __init__(self, fetches: Any, looks_at: Any = None, feeds: Any = None, in_bulk: bool = False) -> None:
        self.fetches, self.announced, self.feeds, self.in_bulk = fetches, looks_at, feeds, in_bulk
        self.results: list[Any] = []

    def looks_at(self) -> Any:
        return self.announced

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.fetches, feed_dict=self.feeds)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.results.append(run_values.results)


def run_with(hook: Any, directory: Path, model: Any = models.dropout) -> None:
    config = lw.RunConfig(model_dir=str(directory), tf_random_seed=1)
    lw.Estimator(model, config=config).train(batches(), steps=2, hooks=[hook])


@pytest.mark.parametrize("in_bulk", [False, True])
def test_what_was_not_announced_cannot_be_had(tmp_path: Path, in_bulk: bool) -> None:
    hook = Asks("the_mean:0", looks_at={"sums": "the_sums:0"} if in_bulk else None, in_bulk=in_bulk)
    text = r"A scheduled hook asked for 'the_mean:0', which its looks_at\(\) did not name.*return it from looks_at"
    with pytest.raises(lw.errors.HookError, match=text):
        run_with(hook, tmp_path)


def test_only_placeholders_can_be_fed(tmp_path: Path) -> None:
    text = "A scheduled hook feeds 'the_mean:0'. Steps are fused, and only placeholders can be fed"
    with pytest.raises(lw.errors.HookError, match=text):
        run_with(Asks(None, feeds={"the_mean:0": 1.0}), tmp_path)


def test_a_placeholder_is_fed_into_fused_steps(tmp_path: Path) -> None:
    def scaled(features: Any, labels: Any, mode: str) -> Any:
        scale = v1.placeholder_with_default(tf.constant(1.0), [], "scale")
        tf.multiply(scale, 10, name="ten_times")
        return models.dropout({**features, "x": features["x"] * scale}, labels, mode)

    hook = Asks("ten_times:0", looks_at="ten_times:0", feeds={"scale:0": 0.5})
    run_with(hook, tmp_path, scaled)
    assert hook.results == [5.0, 5.0]


@pytest.mark.parametrize("wrong", [True, 0, -1, 2.5, "always"])
def test_the_setting_is_checked(wrong: Any) -> None:
    with pytest.raises(lw.errors.UsageError, match='fuse_steps should be "auto", False or a number of steps >= 1, got'):
        lw.RunConfig(fuse_steps=wrong)


def test_the_setting_can_be_replaced() -> None:
    assert lw.RunConfig().fuse_steps == "auto"
    assert lw.RunConfig().replace(fuse_steps=7).fuse_steps == 7
