"""The pool of sessions of an Estimator: what finds a session in it, what switches it off, and dropped predictions."""

from __future__ import annotations

import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.run.engine.fused_runs import Calls

import lightwell as lw

v1 = tf.compat.v1
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    """Two layers, and one output."""
    first = lw.layers.dense(features["x"], 2, name="first", kernel_initializer=v1.ones_initializer())
    out = lw.layers.dense(first, 1, name="second", kernel_initializer=v1.ones_initializer())
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.reduce_mean(tf.square(out - labels))
    train_op = v1.train.GradientDescentOptimizer(0.001).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)


def rows() -> Any:
    return tf.data.Dataset.from_tensor_slices({"x": ROWS}).batch(2)


def pairs() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": ROWS}, ROWS[:, :1])).batch(2)


def trained(folder: Path, **settings: Any) -> lw.Estimator:
    est = lw.Estimator(model_fn, str(folder), lw.RunConfig(**settings))
    est.train(pairs, steps=1)
    return est


def test_taps_chosen_by_a_function_are_chosen_anew_by_each_call(tmp_path: Path) -> None:
    est = trained(tmp_path, pure_model_fn=True)

    def tapped(name: str) -> list[str]:
        row = next(iter(est.predict(rows, taps=[lambda value: value.path == f"layers/{name}"])))
        return [key for key in row if key.startswith("layers/")]

    # A function that is gone may leave its address to the next one.
    found = [tapped(name) for name in ("first", "second", "first", "second")]
    assert found == [["layers/first"], ["layers/second"]] * 2


def test_a_function_that_changes_its_mind_is_asked_again(tmp_path: Path) -> None:
    est, wanted = trained(tmp_path, pure_model_fn=True), ["layers/first"]

    def choose(value: Any) -> bool:
        return value.path in wanted

    before = set(next(iter(est.predict(rows, taps=[choose]))))
    wanted[:] = ["layers/second"]
    after = set(next(iter(est.predict(rows, taps=[choose]))))
    assert (before - after, after - before) == ({"layers/first"}, {"layers/second"})


class SeesSessions(Calls):
    """Keeps the sessions of all runs."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: list[Any] = []

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.sessions.append(session)


@pytest.mark.parametrize(("keep_sessions", "different"), [(True, 1), (False, 3)])
def test_sessions_are_kept_unless_told_otherwise(keep_sessions: bool, different: int, tmp_path: Path) -> None:
    est, seen = trained(tmp_path, keep_sessions=keep_sessions), SeesSessions()
    results = [est.evaluate(pairs, hooks=[seen]) for _ in range(3)]
    assert len({id(session) for session in seen.sessions}) == different
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("pure", [False, True])
def test_without_kept_sessions_the_answers_are_the_same(pure: bool, tmp_path: Path) -> None:
    est = trained(tmp_path, keep_sessions=False, pure_model_fn=pure)
    found = [[row["out"].tolist() for row in est.predict(rows)] for _ in range(2)]
    assert found[0] == found[1]
    est.close()


def test_keep_sessions_must_be_true_or_false() -> None:
    with pytest.raises(ValueError, match="keep_sessions should be True or False"):
        lw.RunConfig(keep_sessions="yes")  # type: ignore[arg-type]


def test_a_prediction_that_ends_while_the_pool_is_in_use_does_not_block(tmp_path: Path) -> None:
    est = trained(tmp_path)
    list(est.predict(rows))
    dropped = est.predict(rows)
    next(dropped)
    pool = est._lightwell_sessions

    def ends() -> None:
        with pool._lock:  # as the collector may find it, in the thread that is in the pool
            dropped.close()

    thread = threading.Thread(target=ends, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert len(list(est.predict(rows))) == len(ROWS)


class SessionsOf(Calls):
    """Notes the session of each run, without keeping it alive."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[weakref.ref[Any]] = []

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.seen.append(weakref.ref(session))

    @property
    def is_one(self) -> bool:
        """Whether all runs were in one session."""
        return len({id(one()) for one in self.seen}) == 1 and self.seen[0]() is not None


def test_inputs_that_never_come_again_evict_no_session_that_does(tmp_path: Path) -> None:
    """Rows that are constants make another graph each: eight of them leave the evaluation and the batches warm."""
    est, evaluations, batches = trained(tmp_path), SessionsOf(), SessionsOf()
    fresh = lw.Estimator(model_fn, str(tmp_path), lw.RunConfig(keep_sessions=False))
    loss, expected = fresh.evaluate(pairs)["loss"], list(fresh.predict(rows))
    for number in range(4):
        assert est.evaluate(pairs, hooks=[evaluations])["loss"] == loss
        assert list(est.predict(rows, hooks=[batches])) == expected
        for value in (number + 0.25, number + 0.5):
            constant = lambda value=value: tf.data.Dataset.from_tensors({"x": [[value, value]]})  # noqa: E731
            assert list(est.predict(constant)) == list(fresh.predict(constant))
    assert evaluations.is_one
    assert batches.is_one
    est.close()


def test_a_new_input_takes_the_place_of_one_that_no_longer_comes(tmp_path: Path) -> None:
    """Four kinds that came again fill the pool; the fifth is warm from its second call on all the same."""
    est, sessions = trained(tmp_path), SessionsOf()

    def of(width: int) -> Any:
        return lambda: tf.data.Dataset.from_tensors({"x": [[float(width)] * 2] * width})

    for width in (1, 1, 2, 2, 3, 3, 4, 4):
        assert len(list(est.predict(of(width)))) == width
    for _ in range(3):
        assert len(list(est.predict(of(5), hooks=[sessions]))) == 5
    assert sessions.is_one
    est.close()
