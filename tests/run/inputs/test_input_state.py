"""Iterators that an `input_fn` makes, in whatever way, are started with the session, and again for a later call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines
from tests.run.engine.fused_runs import Calls

from lightwell.compat.v1.estimator.inputs import numpy_input_fn, pandas_input_fn

v1 = tf.compat.v1
X, Y = tiny.X, tiny.Y


def one_shot(array: Any) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices(({"x": array}, 2 * array)).batch(4)
    return v1.data.make_one_shot_iterator(dataset).get_next()


def frames(array: Any) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas_input_fn(pandas.DataFrame({"x": array}), pandas.Series(2 * array), 4, shuffle=False)()


WAYS: dict[str, Callable[[Any], Any]] = {
    "dataset": lambda array: tf.data.Dataset.from_tensor_slices(({"x": array}, 2 * array)).batch(4),
    "one shot": one_shot,
    "numpy": lambda array: numpy_input_fn({"x": array}, 2 * array, 4, shuffle=False)(),
    "pandas": frames,
}


class Sessions(Calls):
    """Counts calls of the runtime, and notes in which session."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.seen.append(id(session))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_pure", [False, True], ids=["", "pure"])
def test_a_session_serves_again(way: str, is_pure: bool, tmp_path: Path, log: LogLines) -> None:
    est, sessions = tiny.trained(tmp_path, pure_model_fn=is_pure), Sessions()
    weights = est.weights["w"], est.weights["b"]
    for array in (X, X + 1, X[:3], X):
        rows = est.predict(lambda array=array: WAYS[way](array), hooks=[sessions])
        np.testing.assert_allclose([row["out"] for row in rows], weights[0] * array + weights[1], rtol=1e-6)
    assert len(set(sessions.seen)) == 1
    assert len(log.having("Restoring parameters")) == 1
    for _ in range(2):
        assert est.evaluate(lambda: WAYS[way](X))["mae"] == pytest.approx(
            np.mean(np.abs(weights[0] * X + weights[1] - Y))
        )
    est.close()


@pytest.mark.parametrize("way", WAYS)
def test_steps_are_fused(way: str, tmp_path: Path) -> None:
    calls: dict[str, Any] = {}
    array = np.arange(4000, dtype=np.float32) / 4000
    est = tiny.estimator(tmp_path)
    est.train(lambda: WAYS[way](array), steps=1)
    for verb in (est.evaluate, lambda *given, **more: list(est.predict(*given, **more)), est.train):
        run = Runs()
        with run:
            verb(lambda: WAYS[way](array))
        calls[str(verb)] = run.count
    assert max(calls.values()) < 200, f"1000 batches were asked for one by one: {calls}"
    est.close()


class Runs:
    """Counts how often a session is asked to run, whoever asks."""

    def __enter__(self) -> Runs:
        self.count, self._original = 0, v1.Session.run

        def counted(*given: Any, **more: Any) -> Any:
            self.count += 1
            return self._original(*given, **more)

        v1.Session.run = counted
        return self

    def __exit__(self, *given: Any) -> None:
        v1.Session.run = self._original


def test_several_iterators_start_together(tmp_path: Path) -> None:
    def input_fn() -> Any:
        (left, labels), right = one_shot(X), numpy_input_fn(X * 10, batch_size=4, shuffle=False)()
        return {"x": left["x"] + right}, labels

    est = tiny.trained(tmp_path)
    for _ in range(2):
        rows = list(est.predict(input_fn))
        np.testing.assert_allclose(
            [row["out"] for row in rows], est.weights["w"] * 11 * X + est.weights["b"], rtol=1e-5
        )
    est.close()
