"""A session that is lost is opened again, and the run goes on from the last checkpoint as if nothing had been."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.run.engine import fused_models as models
from tests.run.engine.fused_runs import Calls, Look, train

import lightwell as lw

v1 = tf.compat.v1


class LosesSession(v1.train.SessionRunHook):
    """Loses the session at one moment of one step."""

    def __init__(self, moment: str, at: int, error: type = tf.errors.AbortedError) -> None:
        self.moment, self.at, self.error = moment, at, error
        self.count, self.sessions, self.begun, self.ended = 0, [], 0, 0

    def _maybe(self, moment: str) -> None:
        if moment == self.moment:
            self.count += 1
            if self.count == self.at:
                raise self.error(None, None, "the machine went away")

    def begin(self) -> None:
        self.begun += 1

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.sessions.append(session)
        self._maybe("after_create_session")

    def before_run(self, run_context: Any) -> None:
        self._maybe("before_run")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self._maybe("after_run")

    def end(self, session: Any) -> None:
        self.ended += 1


@pytest.mark.parametrize("error", [tf.errors.AbortedError, tf.errors.UnavailableError])
@pytest.mark.parametrize("moment", ["before_run", "after_run"])
def test_training_goes_on_from_the_last_checkpoint(tmp_path: Path, log: LogLines, moment: str, error: type) -> None:
    hook = LosesSession(moment, at=4, error=error)
    made = tiny.estimator(tmp_path, save_checkpoints_steps=2)
    made.train(tiny.data, hooks=[hook], max_steps=6)
    assert made.get_variable_value("global_step") == 6
    assert (hook.begun, len(hook.sessions), hook.ended) == (1, 2, 1)
    assert hook.sessions[0] is not hook.sessions[1]
    (line,) = log.having("An error was raised")
    assert "a new session will be created" in line
    assert "the machine went away" in line
    # before_run: step 4 had not run, so 2 is the newest checkpoint; after_run: the saver had stored step 4 already.
    assert log.having("Restoring parameters")[0].endswith(f"model.ckpt-{2 if moment == 'before_run' else 4}")


def test_one_that_is_lost_while_it_is_opened_is_tried_again(tmp_path: Path, log: LogLines) -> None:
    hook = LosesSession("after_create_session", at=1)
    made = tiny.estimator(tmp_path)
    made.train(tiny.data, hooks=[hook], steps=3)
    assert len(hook.sessions) == 2
    assert made.get_variable_value("global_step") == 3
    assert log.having("while a session was being created")


def test_so_many_more_steps_are_counted_from_the_first_session(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=2)
    made.train(tiny.data, hooks=[LosesSession("before_run", at=4)], steps=6)
    assert made.get_variable_value("global_step") == 6


def test_fused_training_goes_on_just_as_a_single_one(tmp_path: Path) -> None:
    class LosesIt(Look):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            super().after_run(run_context, run_values)
            if len(self.seen) == 2:
                raise tf.errors.AbortedError(None, None, "gone")

    runs = [
        train(tmp_path / str(fuse), models.dropout, fuse, hooks=[LosesIt(6, ["the_mean:0"])])
        for fuse in (False, "auto")
    ]
    runs[0].check_same(runs[1])
    assert [look[1] for look in runs[1].looks[0]] == [6, 12, 12, 18]


class LosesOnSchedule(lw.ScheduledHook):
    """Loses the session once, at a batch of its schedule."""

    def __init__(self, at: int) -> None:
        self.at, self.sessions = at, 0

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.sessions += 1

    def next_look(self, count: int) -> int:
        return max(count + 1, self.at)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self.sessions == 1:
            raise tf.errors.UnavailableError(None, None, "a worker went away")


def test_evaluation_starts_over_in_a_new_session(tmp_path: Path) -> None:
    twenty = lambda: tiny.data(repeat=10)  # noqa: E731
    made = tiny.trained(tmp_path)
    expected = made.evaluate(twenty)
    single = LosesSession("after_run", at=2)
    assert made.evaluate(twenty, hooks=[single]) == expected
    assert len(single.sessions) == 2
    fused, calls = LosesOnSchedule(at=15), Calls()
    assert made.evaluate(twenty, hooks=[fused, calls]) == expected
    assert fused.sessions == 2
    assert max(calls.steps) > 1
    assert made.evaluate(twenty) == expected


def test_another_error_is_not_a_lost_session(tmp_path: Path) -> None:
    hook = LosesSession("after_run", at=1, error=tf.errors.InternalError)
    with pytest.raises(tf.errors.InternalError, match="the machine went away"):
        tiny.estimator(tmp_path).train(tiny.data, hooks=[hook], steps=3)
    assert (len(hook.sessions), hook.ended) == (1, 0)


def test_hooks_are_told_of_the_new_session_and_close_once(tmp_path: Path) -> None:
    class Closes(lw.ScheduledHook):
        closed = 0

        def close(self) -> None:
            self.closed += 1

    hook = Closes()
    tiny.estimator(tmp_path).train(tiny.data, hooks=[LosesSession("before_run", at=2), hook], steps=3)
    assert hook.closed == 1
