"""Many hooks as one: order, merging, and who is called when."""

from __future__ import annotations

import dataclasses
import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.errors import HookError
from lightwell.hooks.base import NEVER, ScheduledHook
from lightwell.hooks.chain import HookChain
from lightwell.hooks.context import ModelView, RunContext

v1 = tf.compat.v1
Args = v1.train.SessionRunArgs
Two = namedtuple("Two", "first second")


class Spy(v1.train.SessionRunHook):
    """Notes its calls; `args` is what it asks for."""

    def __init__(self, name: str, calls: list[str], args: Any = None) -> None:
        self.name, self.calls, self.args = name, calls, args
        self.results: Any = "nothing yet"

    def begin(self) -> None:
        self.calls.append(f"{self.name} begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append(f"{self.name} created {session} {coord}")

    def before_run(self, run_context: Any) -> Any:
        self.calls.append(f"{self.name} before")
        return self.args

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append(f"{self.name} after")
        self.results = run_values.results

    def end(self, session: Any) -> None:
        self.calls.append(f"{self.name} end {session}")


class At(ScheduledHook, Spy):
    """One that looks at chosen steps."""

    def __init__(self, name: str, calls: list[str], steps: tuple[int, ...] = (), seconds: float = math.inf) -> None:
        Spy.__init__(self, name, calls)
        self.steps, self.seconds = steps, seconds

    def next_look(self, global_step: int) -> int:
        return min((step for step in self.steps if step > global_step), default=NEVER)

    def next_look_seconds(self) -> float:
        return self.seconds

    def close(self) -> None:
        self.calls.append(f"{self.name} close")


def context(step: int | None = None, loss: Any = None) -> RunContext:
    made = RunContext(None, "session", ModelView("train", None, None, None), step)
    made.loss_value = loss
    return made


def test_the_order_is_that_of_the_list_in_every_phase() -> None:
    calls: list[str] = []
    chain = HookChain([Spy("a", calls), At("b", calls, (1,)), Spy("c", calls)])
    chain.begin()
    chain.after_create_session("session", "coord")
    request = chain.before_run(context(0))
    chain.after_run(context(1), request, {}, None)
    chain.end("session")
    chain.close()
    phases = ["begin", "created session coord", "before", "after", "end session"]
    assert calls == [f"{name} {phase}" for phase in phases for name in "abc"] + ["b close"]


def test_a_scheduled_hook_is_left_alone_between_its_looks() -> None:
    calls: list[str] = []
    chain = HookChain([At("a", calls, (3,)), At("b", calls, (2, 3)), Spy("c", calls)])
    for step in range(4):
        request = chain.before_run(context(step))
        chain.after_run(context(step + 1), request, {}, None)
    assert [call for call in calls if call.endswith("after")] == [
        *["c after"],
        *["b after", "c after"],
        *["a after", "b after", "c after"],
        *["c after"],
    ]


def test_scheduled_hooks_are_asked_once_for_all_the_steps_up_to_their_next_look() -> None:
    class Asked(At):
        asked = 0

        def next_look(self, global_step: int) -> int:
            self.asked += 1
            return super().next_look(global_step)

    calls: list[str] = []
    scheduled = Asked("a", calls, (50, 52))
    chain = HookChain([scheduled, Spy("b", calls)])
    for step in range(60):
        request = chain.before_run(context(step))
        chain.after_run(context(step + 1), request, {}, None)
        assert scheduled.asked <= 1 or step >= 49
    assert scheduled.asked < 10
    assert calls.count("a after") == 2
    assert calls.count("b after") == 60


def test_a_counter_that_is_set_back_is_noticed() -> None:
    calls: list[str] = []
    chain = HookChain([At("a", calls, (5, 50))])
    for step in (10, 11, 3, 4):
        chain.after_run(context(step + 1), chain.before_run(context(step)), {}, None)
    assert calls == ["a before", "a after"]


def test_the_clock_is_asked_before_every_step() -> None:
    calls: list[str] = []
    hook = At("a", calls, (), seconds=9.0)
    chain = HookChain([hook])
    chain.before_run(context(3))
    hook.seconds = 0.0
    chain.before_run(context(4))
    assert calls == ["a before"]


def test_the_next_look_is_the_nearest_one() -> None:
    chain = HookChain([At("a", [], (7,)), At("b", [], (5, 9))])
    assert [chain.next_look(step) for step in (0, 4, 5, 7, 9)] == [5, 5, 7, 9, NEVER]
    assert chain.next_look_seconds() == math.inf
    assert HookChain([]).next_look(3) == NEVER


def test_a_look_by_the_clock_is_the_next_step() -> None:
    calls: list[str] = []
    late = At("late", calls, (), seconds=0.0)
    chain = HookChain([late, At("soon", calls, (9,), seconds=2.0)])
    assert chain.next_look_seconds() == 0.0
    assert chain.next_look(3) == 4
    chain.before_run(context(3))
    assert calls == ["late before"]


def test_what_runs_without_a_step_counter_calls_everyone() -> None:
    calls: list[str] = []
    HookChain([At("a", calls), Spy("b", calls)]).before_run(context(None))
    assert calls == ["a before", "b before"]


def test_hooks_that_do_nothing_around_steps_are_not_in_the_way() -> None:
    class OnlyBegins(v1.train.SessionRunHook):
        def begin(self) -> None: ...

    double = OnlyBegins()
    double.before_run = lambda run_context: None
    assert HookChain([OnlyBegins()]).unscheduled == ()
    assert HookChain([double]).unscheduled == (double,)
    spy = Spy("a", [])
    assert HookChain([spy, At("b", [])]).unscheduled == (spy,)


def test_each_gets_what_it_asked_for_in_the_form_it_asked() -> None:
    calls: list[str] = []
    wants: list[Any] = [{"x": "t1", "y": ["t2"]}, ("t3",), Two("t4", "t5"), "t6"]
    hooks = [Spy(str(number), calls, Args(want)) for number, want in enumerate(wants)]
    silent = Spy("silent", calls)
    chain = HookChain([*hooks, silent])
    request = chain.before_run(context(0))
    assert list(request.asked.values()) == wants
    chain.after_run(context(1), request, request.asked, None)
    assert [hook.results for hook in hooks] == wants
    assert silent.results is None


def test_paths_are_looked_up_and_tensors_left_alone() -> None:
    def find(path: str, who: str) -> str:
        return f"{who} found {path}"

    tensor = tf.constant(1.0)
    asked = Args({"age": "features/age", "both": Two("loss", tensor), "list": ["labels", tensor]})
    request = HookChain([Spy("a", [], asked)], find).before_run(context(0))
    (fetches,) = request.asked.values()
    assert fetches["age"] == "Spy.before_run found features/age"
    assert fetches["both"] == Two("Spy.before_run found loss", tensor)
    assert fetches["list"] == ["Spy.before_run found labels", tensor]


def test_feeds_are_joined_and_a_clash_is_told() -> None:
    with tf.Graph().as_default():
        one, other = v1.placeholder(tf.float32, name="one"), v1.placeholder(tf.float32, name="other")
    first, second = Spy("a", [], Args(None, {one: 1})), Spy("b", [], Args(None, {other: 2}))
    assert HookChain([first, second]).before_run(context(0)).feeds == {one: 1, other: 2}
    with pytest.raises(HookError, match=r"Same tensor is fed by two hooks: <tf.Tensor 'one:0'.*second one is Spy"):
        HookChain([first, Spy("c", [], Args(None, {one: 3}))]).before_run(context(0))


@pytest.mark.parametrize("given", [1, "loss", ["loss"], {"a": 1}])
def test_what_is_no_run_args_is_refused(given: Any) -> None:
    text = rf"Spy\.before_run must return a SessionRunArgs or None, got {type(given).__name__}\. Wrap the fetches"
    with pytest.raises(HookError, match=text):
        HookChain([Spy("a", [], given)]).before_run(context(0))


def test_run_options_are_merged_so_that_all_are_served() -> None:
    traced = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, timeout_in_ms=100)
    other = v1.RunOptions(timeout_in_ms=50, output_partition_graphs=True, report_tensor_allocations_upon_oom=True)
    hooks = [Spy("a", [], Args(None, options=traced)), Spy("b", []), Spy("c", [], Args(None, options=other))]
    merged = HookChain(hooks).before_run(context(0)).options
    assert (merged.trace_level, merged.timeout_in_ms) == (v1.RunOptions.FULL_TRACE, 150)
    assert (merged.output_partition_graphs, merged.report_tensor_allocations_upon_oom) == (True, True)
    assert HookChain([Spy("a", [])]).before_run(context(0)).options is None


def test_a_hook_is_given_options_also_where_nobody_asked_for_any() -> None:
    given: list[Any] = []

    class Reads(Spy):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            given.append(run_values.options)

    chain = HookChain([Reads("a", [])])
    chain.after_run(context(1), chain.before_run(context(0)), {}, None)
    assert given == [v1.RunOptions()]


def test_a_hooks_error_goes_through_and_nobody_after_it_is_called() -> None:
    calls: list[str] = []

    class Fails(Spy):
        def before_run(self, run_context: Any) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        HookChain([Spy("a", calls), Fails("b", calls), Spy("c", calls)]).before_run(context(0))
    assert calls == ["a before"]


def test_a_nan_is_shown_to_those_who_want_to_know_in_their_place() -> None:
    calls: list[str] = []
    guard = At("guard", calls)
    guard.sees_nan = True
    chain = HookChain([Spy("a", calls), guard, At("late", calls, (9,)), Spy("b", calls)])
    for loss in (np.float32(1), np.float32("nan")):
        calls.clear()
        request = chain.before_run(context(0))
        chain.after_run(context(1, loss), request, {}, None)
    assert calls == ["a before", "b before", "a after", "guard after", "b after"]


def test_hooks_that_are_equal_or_cannot_be_hashed_are_told_apart() -> None:
    @dataclasses.dataclass
    class Counter(v1.train.SessionRunHook):
        wants: Any
        results: Any = None

        def before_run(self, run_context: Any) -> Any:
            return Args(self.wants)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.results = run_values.results

    hooks = [Counter("x"), Counter("x"), Counter("y")]
    chain = HookChain(hooks)
    request = chain.before_run(context(0))
    chain.after_run(context(1), request, dict(request.asked), None)
    assert [hook.results for hook in hooks] == ["x", "x", "y"]
