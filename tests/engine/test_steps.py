"""Warm evaluations and predictions run many batches in a call, and give what single ones give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines

import lightwell as lw
from lightwell.engine.pool import WarmProgram

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(1003, 5).astype(np.float32)
Y = X.sum(axis=1)


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> lw.EstimatorSpec:
    hidden = lw.layers.dense(features["x"], 4, activation=tf.nn.relu)
    if params.get("noise"):
        hidden += tf.random.normal(tf.shape(hidden))
    output = lw.layers.dense(hidden, 1)
    predictions = {"output": output, "sign": tf.where(output > 0, "plus", "minus")}
    predictions |= {name: make(output) for name, make in params.get("more", {}).items()}
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions)
    loss = tf.reduce_mean((output[:, 0] - labels) ** 2)
    train_op = v1.train.AdamOptimizer().minimize(loss, v1.train.get_global_step())
    metrics = {"error": v1.metrics.mean_absolute_error(labels, output[:, 0])}
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def batches(size: int = 8, rows: int = len(X)) -> Callable[[], tf.data.Dataset]:
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X[:rows]}, Y[:rows])).batch(size)


def estimator(model_dir: Path, fuse_steps: Any = "auto", **params: Any) -> lw.Estimator:
    return lw.Estimator(model_fn, str(model_dir), lw.RunConfig(fuse_steps=fuse_steps, tf_random_seed=1), params)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    estimator(folder).train(batches(), steps=20)
    return folder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many batches each call went through that ran in a loop."""
    counts: list[int] = []
    original = WarmProgram.run_loop

    def counted(self: WarmProgram, count: int, fetches: Any) -> Any:
        counts.append(count)
        return original(self, count, fetches)

    monkeypatch.setattr(WarmProgram, "run_loop", counted)
    return counts


@pytest.mark.parametrize("steps", [None, 1, 7, 50])
def test_evaluations_agree(trained: Path, calls: list[int], log: LogLines, steps: int | None) -> None:
    single = estimator(trained, False).evaluate(batches(), steps=steps)
    said = log.having("Evaluation [")
    assert calls == []
    log.lines.clear()
    fused = estimator(trained)
    for _ in range(2):
        assert fused.evaluate(batches(), steps=steps) == single
    assert log.having("Evaluation [") == said * 2
    assert sum(calls) > 100 or steps is not None


def test_an_evaluation_ends_with_its_data(trained: Path) -> None:
    single, fused = estimator(trained, False), estimator(trained)
    for rows in (1, 8, 100, 1000):
        assert fused.evaluate(batches(rows=rows)) == single.evaluate(batches(rows=rows))
    unknown = lambda: batches()().filter(lambda features, label: True)  # noqa: E731
    assert fused.evaluate(unknown) == single.evaluate(unknown)


@pytest.mark.parametrize("by_example", [True, False])
@pytest.mark.parametrize("size", [8, 1003])
def test_predictions_agree(trained: Path, calls: list[int], by_example: bool, size: int) -> None:
    single = list(estimator(trained, False).predict(batches(size), yield_single_examples=by_example))
    assert calls == []
    fused = estimator(trained)
    for _ in range(2):
        found = list(fused.predict(batches(size), yield_single_examples=by_example))
        assert len(found) == len(single)
        for row, expected in zip(found, single, strict=True):
            assert list(row) == list(expected)
            for key in row:
                np.testing.assert_array_equal(row[key], expected[key])
                assert row[key].dtype == expected[key].dtype
    assert sum(calls) == 2 * -(-len(X) // size)
    assert max(calls) > 16 or size > 8


def test_the_first_rows_do_not_wait_for_the_rest(trained: Path, calls: list[int]) -> None:
    rows = estimator(trained).predict(batches())
    next(rows)
    rows.close()
    assert calls == [1]


def test_keys_and_taps_ride_along(trained: Path, calls: list[int]) -> None:
    wanted = {"predict_keys": "sign", "taps": ["layers/dense", "weights/dense/bias"]}
    single = list(estimator(trained, False).predict(batches(), **wanted))
    fused = list(estimator(trained).predict(batches(), **wanted))
    assert max(calls) > 16
    for row, expected in zip(fused, single, strict=True):
        assert row["sign"] == expected["sign"]
        np.testing.assert_array_equal(row["layers/dense"], expected["layers/dense"])
        np.testing.assert_array_equal(row.batch["weights/dense/bias"], expected.batch["weights/dense/bias"])


def test_batches_of_their_own_lengths_are_not_joined(trained: Path) -> None:
    halves = {"half": lambda output: output[: tf.shape(output)[0] // 2]}
    single = list(estimator(trained, False, more=halves).predict(batches(), yield_single_examples=False))
    est = estimator(trained, more=halves)
    found = list(est.predict(batches(), yield_single_examples=False))
    assert [len(batch["half"]) for batch in found] == [len(batch["half"]) for batch in single]
    with pytest.raises(lw.errors.ModelFnError, match="Batch length of predictions should be same"):
        list(est.predict(batches()))


def test_a_number_per_batch(trained: Path, calls: list[int]) -> None:
    mean = {"mean": tf.reduce_mean}
    single = list(estimator(trained, False, more=mean).predict(batches(), yield_single_examples=False))
    est = estimator(trained, more=mean)
    found = list(est.predict(batches(), yield_single_examples=False))
    assert max(calls) > 16
    assert [batch["mean"] for batch in found] == [batch["mean"] for batch in single]
    for keys in (None, "mean"):
        with pytest.raises(lw.errors.ModelFnError, match=r"predictions\['mean'\] has no batch dimension"):
            list(est.predict(batches(), predict_keys=keys))


def test_what_cannot_be_joined_comes_batch_by_batch(trained: Path, calls: list[int]) -> None:
    wide = {"wide": lambda output: tf.transpose(output)}
    found = list(estimator(trained, more=wide).predict(batches(), yield_single_examples=False))
    assert [batch["wide"].shape for batch in found] == [(1, 8)] * 125 + [(1, 3)]
    assert calls == []
    list(estimator(trained, more=wide).predict(batches(), predict_keys="output"))
    assert max(calls) > 16


def test_random_ops_draw_as_they_do_singly(trained: Path, calls: list[int]) -> None:
    single, other = estimator(trained, False, noise=True), estimator(trained, noise=True)
    assert other.evaluate(batches()) == single.evaluate(batches())
    assert calls == []


def test_a_number_of_steps_is_the_most(trained: Path, calls: list[int]) -> None:
    list(estimator(trained, 10).predict(batches()))
    assert max(calls) == 10


def test_a_failure_in_the_middle_is_told_and_leaves_nothing_behind(trained: Path) -> None:
    est = estimator(trained, more={"checked": lambda output: tf.debugging.check_numerics(output, "a bad row")})
    bad = X.copy()
    bad[900] = [np.inf, 0, 0, 0, 0]
    rows = est.predict(lambda: tf.data.Dataset.from_tensor_slices({"x": bad}).batch(8))
    with pytest.raises(tf.errors.InvalidArgumentError, match="a bad row"):
        list(rows)
    assert len(list(est.predict(batches()))) == len(X)
