"""Evaluations and predictions run many batches in a call, and give what single ones give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.conftest import LogLines
from tests.run.engine.fused_runs import Calls

import lightwell as lw

v1 = tf.compat.v1
X = np.random.RandomState(0).randn(1003, 5).astype(np.float32)
Y = X.sum(axis=1)


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> lw.EstimatorSpec:
    hidden = lw.layers.dense(features["x"], 4, activation=tf.nn.relu)
    hidden += params.get("noise", tf.zeros_like)(hidden)
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
def calls() -> Calls:
    return Calls()


@pytest.mark.parametrize("steps", [None, 1, 7, 50])
def test_evaluations_agree(trained: Path, calls: Calls, log: LogLines, steps: int | None) -> None:
    single = estimator(trained, False).evaluate(batches(), steps=steps)
    said = log.having("Evaluation [")
    log.lines.clear()
    fused = estimator(trained)
    for _ in range(2):
        assert fused.evaluate(batches(), steps=steps, hooks=[calls]) == single
    assert log.having("Evaluation [") == said * 2
    assert sum(calls.steps) == 2 * (steps or 126)
    assert max(calls.steps) > 16 or steps is not None


def test_an_evaluation_ends_with_its_data(trained: Path) -> None:
    single, fused = estimator(trained, False), estimator(trained)
    for rows in (1, 8, 100, 1000):
        assert fused.evaluate(batches(rows=rows)) == single.evaluate(batches(rows=rows))
    unknown = lambda: batches()().filter(lambda features, label: True)  # noqa: E731
    assert fused.evaluate(unknown) == single.evaluate(unknown)


@pytest.mark.parametrize("by_example", [True, False])
@pytest.mark.parametrize("size", [8, 1003])
def test_predictions_agree(trained: Path, calls: Calls, by_example: bool, size: int) -> None:
    single = list(estimator(trained, False).predict(batches(size), yield_single_examples=by_example))
    fused = list(estimator(trained).predict(batches(size), hooks=[calls], yield_single_examples=by_example))
    assert max(calls.steps) > 16 or size > 8
    for row, expected in zip(fused, single, strict=True):
        assert list(row) == list(expected)
        for key, value in row.items():
            assert type(value) is type(expected[key])
            np.testing.assert_array_equal(value, expected[key])


@pytest.mark.parametrize("by_example", [True, False])
def test_taps_come_with_every_row(trained: Path, calls: Calls, by_example: bool) -> None:
    wanted = {"taps": ["layers/dense", "weights/dense/bias"], "yield_single_examples": by_example}
    single = list(estimator(trained, False).predict(batches(), **wanted))
    fused = list(estimator(trained).predict(batches(), hooks=[calls], **wanted))
    assert max(calls.steps) > 16
    for row, expected in zip(fused, single, strict=True):
        np.testing.assert_array_equal(row["sign"], expected["sign"])
        np.testing.assert_array_equal(row["layers/dense"], expected["layers/dense"])
        if by_example:
            np.testing.assert_array_equal(row.batch["weights/dense/bias"], expected.batch["weights/dense/bias"])


def test_an_evaluation_is_tapped_and_fused(trained: Path, calls: Calls) -> None:
    single = estimator(trained, False).evaluate(batches(), taps=["layers/dense"])
    fused = estimator(trained).evaluate(batches(), hooks=[calls], taps=["layers/dense"])
    assert fused == single
    assert repr(fused.taps) == repr(single.taps)


def test_one_prediction_without_a_name(tmp_path: Path, calls: Calls) -> None:
    def alone(features: Any, mode: str) -> Any:
        return lw.EstimatorSpec(mode, predictions=features["x"][:, 0])

    made = lw.Estimator(alone, str(tmp_path))
    rows = list(made.predict(lambda: batches()().map(lambda features, label: features), hooks=[calls]))
    assert max(calls.steps) > 16
    np.testing.assert_array_equal(rows, X[:, 0])


def test_batches_of_their_own_lengths_are_not_joined(trained: Path) -> None:
    halves = {"half": lambda output: output[: tf.shape(output)[0] // 2]}
    single = list(estimator(trained, False, more=halves).predict(batches(), yield_single_examples=False))
    est = estimator(trained, more=halves)
    found = list(est.predict(batches(), yield_single_examples=False))
    assert [len(batch["half"]) for batch in found] == [len(batch["half"]) for batch in single]
    with pytest.raises(lw.errors.ModelFnError, match="Batch length of predictions should be same"):
        list(est.predict(batches()))


def test_a_number_per_batch(trained: Path, calls: Calls) -> None:
    mean = {"mean": tf.reduce_mean}
    single = list(estimator(trained, False, more=mean).predict(batches(), yield_single_examples=False))
    est = estimator(trained, more=mean)
    found = list(est.predict(batches(), hooks=[calls], yield_single_examples=False))
    assert max(calls.steps) > 16
    assert [batch["mean"] for batch in found] == [batch["mean"] for batch in single]
    for keys in (None, "mean"):
        with pytest.raises(lw.errors.ModelFnError, match=r"predictions\['mean'\] has no batch dimension"):
            list(est.predict(batches(), predict_keys=keys))


def test_what_cannot_be_joined_comes_batch_by_batch(trained: Path) -> None:
    wide = {"wide": lambda output: tf.transpose(output)}
    found = list(estimator(trained, more=wide).predict(batches(), yield_single_examples=False))
    assert [batch["wide"].shape for batch in found] == [(1, 8)] * 125 + [(1, 3)]


def _in_a_function(hidden: Any) -> Any:
    @tf.function
    def draw(x: Any) -> Any:
        return tf.nn.dropout(x, rate=0.5, seed=3)

    return draw(hidden)


NOISE: dict[str, Callable[[Any], Any]] = {
    "an op": lambda hidden: tf.random.normal(tf.shape(hidden)),
    "of fixed size": lambda hidden: tf.random.uniform([4]),
    "a function": _in_a_function,
    "a branch": lambda hidden: tf.cond(
        tf.reduce_mean(hidden) > 0, lambda: tf.nn.dropout(hidden, rate=0.3), lambda: -hidden
    ),
    "a sampler": lambda hidden: tf.cast(
        tf.random.uniform_candidate_sampler(tf.zeros([1, 1], tf.int64), 1, 4, True, 100, seed=3)[0], tf.float32
    ),
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_random_numbers_are_those_of_single_batches_each_time(trained: Path, noise: Any) -> None:
    """And, as in a program that is started anew, the same in each call."""
    single, fused = estimator(trained, False, noise=noise), estimator(trained, noise=noise)
    expected = single.evaluate(batches())
    assert [fused.evaluate(batches()), fused.evaluate(batches()), single.evaluate(batches())] == [expected] * 3
    rows = [[row["output"] for row in one.predict(batches())] for one in (single, fused, fused)]
    np.testing.assert_array_equal(rows[1], rows[0])
    np.testing.assert_array_equal(rows[2], rows[0])


def test_the_first_rows_do_not_wait_for_the_rest(trained: Path, calls: Calls) -> None:
    rows: Any = estimator(trained).predict(batches(), hooks=[calls])
    next(rows)
    rows.close()
    assert calls.steps == [1]


def test_a_number_of_steps_is_the_most(trained: Path, calls: Calls) -> None:
    list(estimator(trained, 10).predict(batches(), hooks=[calls]))
    assert max(calls.steps) == 10


def test_a_stop_in_the_middle_leaves_out_what_comes_after(trained: Path) -> None:
    class StopsAt(lw.ScheduledHook):
        def next_look(self, count: int) -> int:
            return max(count + 1, 60)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            run_context.request_stop()

    for fuse in (False, "auto"):
        assert len(list(estimator(trained, fuse).predict(batches(), hooks=[StopsAt()]))) == 60 * 8
        assert estimator(trained, fuse).evaluate(batches(), hooks=[StopsAt()]) == estimator(trained, fuse).evaluate(
            batches(), steps=60
        )


def test_a_schedule_is_kept_in_batches(trained: Path) -> None:
    class EachTen(lw.ScheduledHook):
        keeps_to_context = True

        def __init__(self) -> None:
            self.seen: list[Any] = []

        def next_look(self, count: int) -> int:
            return (count // 10 + 1) * 10

        def looks_at(self) -> Any:
            return "features/x"

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs("features/x")

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen.append((run_context.count, run_context.batch, run_values.results[0, 0]))

    for fuse in (False, "auto"):
        est, hook = estimator(trained, fuse), EachTen()
        est.evaluate(batches(), hooks=[hook])
        list(est.predict(batches(), hooks=[hook]))
        once = [(count, count, X[8 * (count - 1), 0]) for count in range(10, 127, 10)]
        assert hook.seen == once * 2


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
@pytest.mark.parametrize("by_example", [True, False])
def test_rows_before_a_batch_that_fails_are_all_given(trained: Path, fuse_steps: Any, by_example: bool) -> None:
    checked = {"checked": lambda output: tf.debugging.check_numerics(output, "a bad row")}
    est = estimator(trained, fuse_steps, more=checked)
    bad = X.copy()
    bad[900] = [np.inf, 0, 0, 0, 0]
    found: list[Any] = []
    rows = est.predict(
        lambda: tf.data.Dataset.from_tensor_slices({"x": bad}).batch(8), yield_single_examples=by_example
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="a bad row"):
        found.extend(rows)
    assert len(found) == (896 if by_example else 112)  # row 900 is in the batch after them
    assert len(list(est.predict(batches()))) == len(X), "and nothing is left behind"
