"""A scheduled hook is an ordinary hook that says when it is needed, in every mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.run.engine.fused_models import counting_by, nan_at
from tests.run.engine.fused_runs import batches

import lightwell as lw

v1 = tf.compat.v1


class Notes(lw.ScheduledHook):
    """Notes the counts it is shown, and how many steps passed it by."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.went_by = self.closed = 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(run_context.count)

    def passed(self, steps: int) -> None:
        self.went_by += steps

    def close(self) -> None:
        self.closed += 1


class EachFour(Notes):
    def next_look(self, count: int) -> int:
        return (count // 4 + 1) * 4


@pytest.fixture(scope="module")
def trained(tmp_path_factory: Any) -> lw.Estimator:
    return tiny.trained(tmp_path_factory.mktemp("trained"), steps=10)


def run(est: lw.Estimator, verb: str, hook: Any) -> None:
    """Ten steps."""
    if verb == "train":
        est.train(tiny.data, steps=10, hooks=[hook])
    elif verb == "evaluate":
        est.evaluate(lambda: tiny.data(repeat=5), hooks=[hook])
    else:
        list(est.predict(lambda: tiny.data(repeat=5), hooks=[hook]))


@pytest.mark.parametrize("verb", ["evaluate", "predict", "train"])
def test_it_is_shown_what_it_asks_for_and_told_how_many_passed(
    trained: lw.Estimator, verb: str, tmp_path: Path
) -> None:
    assert issubclass(lw.ScheduledHook, v1.train.SessionRunHook)
    est = tiny.estimator(tmp_path) if verb == "train" else trained
    every, some = Notes(), EachFour()
    run(est, verb, every)
    assert (every.seen, every.went_by, every.closed) == (list(range(1, 11)), 0, 1), "by default every step"
    run(est, verb, some)
    start = 10 if verb == "train" else 0
    assert some.seen == [count for count in range(start + 1, start + 11) if count % 4 == 0]
    assert some.went_by == 10 - len(some.seen)


def test_it_is_closed_also_after_an_error(tmp_path: Path) -> None:
    class Fails(Notes):
        ended = False

        def after_run(self, run_context: Any, run_values: Any) -> None:
            raise KeyError("mine")

        def end(self, session: Any) -> None:
            self.ended = True

    hook = Fails()
    with pytest.raises(KeyError, match="mine"):
        tiny.estimator(tmp_path).train(tiny.data, steps=2, hooks=[hook])
    assert (hook.closed, hook.ended) == (1, False)


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_one_that_wants_to_know_is_shown_a_nan(tmp_path: Path, fuse_steps: Any) -> None:
    class SeesNan(Notes):
        sees_nan = True

        def next_look(self, count: int) -> int:
            return 10**9

    class Late(Notes):
        def next_look(self, count: int) -> int:
            return 10**9

    wants, does_not = SeesNan(), Late()
    config = lw.RunConfig(str(tmp_path), fuse_steps=fuse_steps)
    with pytest.raises(lw.NanLossDuringTrainingError):
        lw.Estimator(nan_at(7), config=config).train(batches(), steps=20, hooks=[wants, does_not])
    assert (wants.seen, does_not.seen) == ([7], [])


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_it_is_told_how_far_a_step_moves_the_count(tmp_path: Path, fuse_steps: Any) -> None:
    hook = EachFour()
    config = lw.RunConfig(str(tmp_path), fuse_steps=fuse_steps)
    lw.Estimator(counting_by(3), config=config).train(batches(), max_steps=20, hooks=[hook])
    assert hook.stride == 3
    assert hook.seen == [6, 9, 12, 18, 21, 24], "the steps that passed a multiple of four"


def test_a_cadence_in_time_is_asked_before_every_step(tmp_path: Path, clock: Any) -> None:
    class EachMinute(Notes):
        next = 60.0

        def next_look(self, count: int) -> int:
            return 10**9

        def next_look_seconds(self) -> float:
            return self.next - clock.ahead

        def after_run(self, run_context: Any, run_values: Any) -> None:
            super().after_run(run_context, run_values)
            self.next += 60.0

    hook = EachMinute()
    tiny.estimator(tmp_path).train(tiny.data, steps=10, hooks=[clock.each_step(25.0), hook])
    assert hook.seen == [4, 6, 9]
