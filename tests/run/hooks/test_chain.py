"""Many hooks as one: order, merging, and who is called when."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
Args = v1.train.SessionRunArgs


class Spy(v1.train.SessionRunHook):
    """Notes its calls."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self.name, self.calls = name, calls

    def begin(self) -> None:
        self.calls.append(f"{self.name} begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append(f"{self.name} created")

    def before_run(self, run_context: Any) -> Any:
        self.calls.append(f"{self.name} before")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append(f"{self.name} after")

    def end(self, session: Any) -> None:
        self.calls.append(f"{self.name} end")


class At(lw.ScheduledHook, Spy):
    """One that looks at chosen steps."""

    def __init__(self, name: str, calls: list[str], *steps: int) -> None:
        Spy.__init__(self, name, calls)
        self.steps = steps

    def next_look(self, count: int) -> int:
        return min((step for step in self.steps if step > count), default=10**9)

    def before_run(self, run_context: Any) -> Any:
        Spy.before_run(self, run_context)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        Spy.after_run(self, run_context, run_values)

    def close(self) -> None:
        self.calls.append(f"{self.name} close")


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict"])
def test_the_order_is_that_of_the_list_in_every_phase_and_mode(tmp_path: Path, verb: str) -> None:
    calls: list[str] = []
    hooks = [Spy("a", calls), At("b", calls, 1), Spy("c", calls)]
    done = getattr(tiny.estimator(tmp_path), verb)(lambda: tiny.data(repeat=1, batch=8), hooks=hooks)
    if verb == "predict":
        assert len(list(done)) == 8
    phases = ["begin", "created", "before", "after", "end"]
    expected = [f"{name} {phase}" for phase in phases for name in "abc"] + ["b close"]
    expected[-4:-4] = ["a before", "c before"]  # of the step that finds no more data
    assert calls == expected


@pytest.mark.parametrize("with_ordinary", [True, False], ids=["beside one of every step", "alone"])
def test_a_scheduled_hook_is_left_alone_between_its_looks(tmp_path: Path, with_ordinary: bool) -> None:
    calls: list[str] = []
    ordinary = [Spy("c", calls)] if with_ordinary else []
    tiny.estimator(tmp_path).train(tiny.data, steps=4, hooks=[At("a", calls, 3), At("b", calls, 2, 3), *ordinary])
    ran = [call.removesuffix(" after") for call in calls if call.endswith(" after")]
    assert ran == (["c", "b", "c", "a", "b", "c", "c"] if with_ordinary else ["b", "a", "b"])


def test_scheduled_hooks_are_not_asked_at_every_step(tmp_path: Path) -> None:
    """Whether steps are fused or not: what a hook said holds until one of them is called."""

    class Asked(At):
        asked = 0

        def next_look(self, count: int) -> int:
            self.asked += 1
            return super().next_look(count)

    calls: list[str] = []
    quiet = {"save_checkpoints_steps": None, "log_step_count_steps": None, "save_summary_steps": None}
    hook = Asked("a", calls, 190)
    tiny.estimator(tmp_path, **quiet).train(tiny.data, steps=200, hooks=[hook, Spy("b", calls)])
    assert calls.count("a after") == 1
    assert calls.count("b after") == 200
    assert hook.asked < 60


def test_a_counter_that_is_set_back_is_noticed(tmp_path: Path) -> None:
    def to_and_fro(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        step = v1.train.get_global_step()
        with tf.control_dependencies([spec.train_op]):
            return spec._replace(train_op=v1.assign(step, tf.where(tf.equal(step, 6), tf.constant(2, tf.int64), step)))

    seen: list[int] = []

    class Notes(At):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(run_context.count)

    hooks = [Notes("a", [], 4), Spy("b", [])]
    tiny.estimator(tmp_path, to_and_fro).train(lambda: tiny.data(repeat=6), hooks=hooks)
    assert seen == [4, 4, 4]


def test_nothing_but_a_hooks_own_error_comes_out_and_nobody_after_it_is_called(tmp_path: Path) -> None:
    calls: list[str] = []

    class Fails(Spy):
        def before_run(self, run_context: Any) -> Any:
            raise KeyError("mine")

    hooks = [Spy("a", calls), Fails("b", calls), Spy("c", calls), At("d", calls, 1)]
    with pytest.raises(KeyError, match="mine"):
        tiny.estimator(tmp_path).train(tiny.data, steps=3, hooks=hooks)
    assert [call for call in calls if "begin" not in call and "created" not in call] == ["a before", "d close"]


def test_hooks_that_are_equal_or_cannot_be_hashed_are_told_apart(tmp_path: Path) -> None:
    @dataclasses.dataclass
    class Counter(v1.train.SessionRunHook):
        wants: str
        results: Any = None

        def before_run(self, run_context: Any) -> Any:
            return Args(self.wants)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.results = np.shape(run_values.results)

    hooks = [Counter("loss"), Counter("loss"), Counter("features/x")]
    tiny.estimator(tmp_path).train(tiny.data, steps=1, hooks=hooks)
    assert [hook.results for hook in hooks] == [(), (), (4,)]


class Keeps(v1.train.SessionRunHook):
    """Asks for the loss, and keeps what it is given."""

    def before_run(self, run_context: Any) -> Any:
        return Args(run_context.loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.values = run_values


class Traces(Keeps):
    """Asks with run options."""

    def __init__(self, **options: Any) -> None:
        self.options = v1.RunOptions(**options)

    def before_run(self, run_context: Any) -> Any:
        return Args(run_context.loss, options=self.options)


def test_run_options_are_merged_so_that_all_are_served_and_a_trace_comes_with_its_metadata(tmp_path: Path) -> None:
    hooks = [
        Traces(trace_level=v1.RunOptions.FULL_TRACE, timeout_in_ms=100_000),
        Keeps(),
        Traces(timeout_in_ms=50_000, output_partition_graphs=True, report_tensor_allocations_upon_oom=True),
    ]
    tiny.estimator(tmp_path).train(tiny.once, hooks=hooks, steps=1)
    for hook in hooks:
        given = hook.values.options
        assert (given.trace_level, given.timeout_in_ms) == (v1.RunOptions.FULL_TRACE, 150_000)
        assert (given.output_partition_graphs, given.report_tensor_allocations_upon_oom) == (True, True)
        assert hook.values.run_metadata.HasField("step_stats")
        assert hook.values.run_metadata.partition_graphs


class Feeds(Keeps):
    def __init__(self, value: float, key: Any = None) -> None:
        self.value, self.key = value, key

    def before_run(self, run_context: Any) -> Any:
        key = run_context.features["x"] if self.key is None else self.key
        return Args(key, feed_dict={key: np.full(4, self.value, np.float32)})


def test_feeds_are_joined_and_a_clash_is_told(tmp_path: Path) -> None:
    first, second = Feeds(100), Feeds(7, "IteratorGetNext:1")
    tiny.estimator(tmp_path).train(tiny.data, hooks=[first, second], steps=1)
    assert first.values.results.tolist() == [100] * 4
    assert second.values.results.tolist() == [7] * 4
    text = r"Same tensor is fed by two hooks: <tf.Tensor 'IteratorGetNext:0'.*second one is Feeds"
    with pytest.raises(lw.errors.HookError, match=text):
        tiny.estimator(tmp_path).train(tiny.data, hooks=[Feeds(1), Feeds(2)], steps=1)


@pytest.mark.parametrize("given", [1, "loss", ["loss"], {"a": 1}], ids=str)
def test_what_is_no_run_args_is_refused(tmp_path: Path, given: Any) -> None:
    class Wrong(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            return given

    text = rf"Wrong\.before_run must return a SessionRunArgs or None, got {type(given).__name__}\. Wrap the fetches"
    with pytest.raises(lw.errors.HookError, match=text):
        tiny.estimator(tmp_path).train(tiny.data, hooks=[Wrong()], steps=1)
