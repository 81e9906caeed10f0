"""Every public hook in a session that TensorFlow opens, not an Estimator: it works there, or it says why it cannot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny
from tests.parity.stopping_scenes import write

import lightwell as lw
from lightwell.errors import UsageError
from lightwell.run.events import read_metrics

v1 = tf.compat.v1
hooks = lw.estimator.experimental
SIGNAL = "signal_early_stopping/STOP"
SESSIONS: dict[str, Callable[..., Any]] = {
    "MonitoredSession": v1.train.MonitoredSession,
    "SingularMonitoredSession": v1.train.SingularMonitoredSession,
    "MonitoredTrainingSession": v1.train.MonitoredTrainingSession,
}


def steps_run(hook: Any, session: str = "MonitoredSession", most: int = 8) -> int:
    """How many steps a hook lets pass; each moves `w` and the counter by one."""
    with tf.Graph().as_default():
        step = v1.train.create_global_step()
        w = v1.get_variable("w", [], initializer=v1.zeros_initializer())
        v1.get_variable("b", [], initializer=v1.zeros_initializer())
        move = tf.group(w.assign_add(1.0), step.assign_add(1))
        run = 0
        with SESSIONS[session](hooks=[hook]) as opened:
            while not opened.should_stop() and run < most:
                opened.run(move)
                run += 1
        return run


class Worker(lw.RunConfig):
    """The settings of a process that is not the chief."""

    @property
    def is_chief(self) -> bool:  # type: ignore[override]
        return False


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (lambda est: hooks.make_early_stopping_hook(est, lambda: True), 1),
        (lambda est: hooks.make_early_stopping_hook(est, lambda: False, run_every_secs=0), 8),
        (lambda est: hooks.stop_if_higher_hook(est, "m", 0.5), 1),
        (lambda est: hooks.stop_if_higher_hook(est, "m", 0.9), 8),
        (lambda est: hooks.stop_if_lower_hook(est, "m", 0.5), 8),
        (lambda est: hooks.stop_if_lower_hook(est, "m", 0.7), 1),
        (lambda est: hooks.stop_if_no_increase_hook(est, "m", 10), 1),
        (lambda est: hooks.stop_if_no_increase_hook(est, "m", 11), 8),
        (lambda est: hooks.stop_if_no_decrease_hook(est, "m", 10), 8),
        (lambda est: hooks.make_stop_at_checkpoint_step_hook(est, 4), 4),
    ],
)
def test_a_stopping_hook_stops_it_where_it_stops_a_training(
    tmp_path: Path, session: str, make: Callable[..., Any], steps: int
) -> None:
    est = tiny.estimator(tmp_path)
    write(est.eval_dir(), [(10, {"m": 0.8}), (20, {"m": 0.6})])
    assert steps_run(make(est), session) == steps


def test_a_cadence_in_steps_holds_there_too(tmp_path: Path) -> None:
    asked: list[int] = []
    hook = hooks.make_early_stopping_hook(
        tiny.estimator(tmp_path), lambda: asked.append(1), run_every_secs=None, run_every_steps=4
    )
    assert (steps_run(hook, most=9), len(asked)) == (9, 3)


def test_a_counter_is_made_where_there_is_none(tmp_path: Path) -> None:
    hook = hooks.make_early_stopping_hook(tiny.estimator(tmp_path), lambda: True)
    with tf.Graph().as_default():
        number = tf.constant(3.0)
        with v1.train.MonitoredSession(hooks=[hook]) as session:
            assert session.run(number) == 3
            assert session.should_stop()


def test_the_stop_is_left_in_the_variable_for_other_processes(tmp_path: Path) -> None:
    hook = hooks.make_early_stopping_hook(tiny.estimator(tmp_path), lambda: True)
    with tf.Graph().as_default() as graph:
        step = v1.train.create_global_step()
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            (stopped,) = [variable for variable in v1.global_variables(SIGNAL) if variable.graph is graph]
            assert not session.raw_session().run(stopped)
            session.run(step)
            assert session.raw_session().run(stopped)


def test_a_worker_stops_when_the_chief_has_and_asks_nothing_itself(tmp_path: Path) -> None:
    est = lw.Estimator(tiny.linear, config=Worker(str(tmp_path)), params={})
    hook = hooks.make_early_stopping_hook(est, lambda: pytest.fail("only the chief asks"))
    with tf.Graph().as_default():
        step = v1.train.create_global_step()
        with v1.variable_scope("", reuse=v1.AUTO_REUSE):
            stopped = v1.get_variable(SIGNAL, [], tf.bool, initializer=v1.constant_initializer(False), trainable=False)
        stop = stopped.assign(True)
        with v1.train.SingularMonitoredSession(hooks=[hook]) as session:
            session.run(step)
            assert not session.should_stop()
            session.raw_session().run(stop)
            session.run(step)
            assert session.should_stop()


@pytest.mark.parametrize("session", SESSIONS)
def test_the_weights_of_the_session_are_evaluated(tmp_path: Path, session: str) -> None:
    est = tiny.estimator(tmp_path)
    hook = hooks.InMemoryEvaluatorHook(est, tiny.once, every_n_iter=3)
    steps_run(hook, session)
    found = {step: values["mae"] for step, values in read_metrics(est.eval_dir()).items()}
    assert found == {step: pytest.approx(4.5 * abs(step - 2)) for step in (0, 3, 6, 8)}


@pytest.mark.parametrize("hook", [lw.Watch("loss", every=1, do=print), lw.stop_when("loss", lambda loss: True)])
def test_a_watch_tells_that_it_needs_an_estimator(hook: Any) -> None:
    with pytest.raises(UsageError, match=r"'loss'\) works in train, evaluate and predict of an Estimator.*Hand it to"):
        steps_run(hook)
