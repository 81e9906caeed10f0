"""Keras metrics in `eval_metric_ops`: the numbers Keras gives, from zero each time, nothing in the checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import estimator, keras, v1

import lightwell as lw

M = keras.metrics
SCORES = np.random.RandomState(1).rand(64).astype(np.float32)
LABELS = (np.random.RandomState(2).rand(64) > 0.6).astype(np.int64)


def rows() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"score": SCORES}, LABELS)).batch(10)  # the last batch is smaller


def pair(scores: Any) -> Any:
    return tf.stack([1 - scores, scores], axis=1)


class Doubled(M.Metric):
    """Reads a variable that it has just assigned."""

    def __init__(self) -> None:
        super().__init__(name="doubled")
        self.sum = self.add_weight(name="sum", shape=(), initializer="zeros")
        self.twice = self.add_weight(name="twice", shape=(), initializer="zeros")

    def update_state(self, values: Any) -> None:
        self.sum.assign_add(tf.reduce_sum(values))
        self.twice.assign(self.sum * 2.0)

    def result(self) -> Any:
        return self.twice * 1.0


METRICS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], tuple[Any, ...]]]] = {
    "mean": (lambda: M.Mean(), lambda y, p: (p,)),
    "sum": (lambda: M.Sum(), lambda y, p: (p,)),
    "accuracy": (lambda: M.Accuracy(), lambda y, p: (y, tf.round(p))),
    "binary": (lambda: M.BinaryAccuracy(), lambda y, p: (y, p)),
    "sparse": (lambda: M.SparseCategoricalAccuracy(), lambda y, p: (y, pair(p))),
    "auc": (lambda: M.AUC(), lambda y, p: (y, p)),
    "auc pr": (lambda: M.AUC(curve="PR", num_thresholds=20), lambda y, p: (y, p)),
    "precision": (lambda: M.Precision(), lambda y, p: (y, p)),
    "recall": (lambda: M.Recall(thresholds=0.3), lambda y, p: (y, p)),
    "iou": (lambda: M.MeanIoU(2), lambda y, p: (y, tf.cast(p > 0.5, tf.int64))),
    "rmse": (lambda: M.RootMeanSquaredError(), lambda y, p: (y, p)),
    "cosine": (lambda: M.CosineSimilarity(), lambda y, p: (pair(tf.cast(y, tf.float32)), pair(p))),
    "crossentropy": (lambda: M.BinaryCrossentropy(), lambda y, p: (y, p)),
    "doubled": (lambda: Doubled(), lambda y, p: (p,)),
}


def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    metrics = {name: make() for name, (make, _) in METRICS.items()}
    for name, metric in metrics.items():
        metric.update_state(*METRICS[name][1](labels, features["score"]))
    metrics["two updates"] = M.Mean()
    metrics["two updates"].update_state(features["score"])
    metrics["two updates"].update_state(features["score"] * 3)
    metrics["weighted"] = M.Mean()
    metrics["weighted"].update_state(features["score"], sample_weight=features["score"])
    metrics["v1"] = v1.metrics.mean(features["score"])
    weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
    loss = tf.reduce_mean(features["score"]) * weight
    train_op = v1.train.GradientDescentOptimizer(0.0).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[lw.Estimator, dict[str, Any]]:
    est = estimator(tmp_path_factory.mktemp("metrics"), model_fn)
    est.train(lambda: rows().repeat(), steps=2)
    return est, est.evaluate(rows)


@pytest.mark.parametrize("name", METRICS)
def test_the_value_is_that_of_keras(evaluated: tuple[lw.Estimator, dict[str, Any]], name: str) -> None:
    make, arguments = METRICS[name]
    metric = make()
    for scores, labels in ((f["score"], y) for f, y in rows()):
        metric.update_state(*arguments(labels, scores))
    np.testing.assert_allclose(evaluated[1][name], np.asarray(metric.result()), rtol=1e-5)


def test_other_updates(evaluated: tuple[lw.Estimator, dict[str, Any]]) -> None:
    result = evaluated[1]
    np.testing.assert_allclose(result["two updates"], 2 * SCORES.mean(), rtol=1e-5)
    np.testing.assert_allclose(result["weighted"], (SCORES**2).sum() / SCORES.sum(), rtol=1e-5)
    np.testing.assert_allclose(result["v1"], SCORES.mean(), rtol=1e-5)


def test_each_evaluation_starts_from_zero(evaluated: tuple[lw.Estimator, dict[str, Any]]) -> None:
    est, first = evaluated
    assert est.evaluate(rows) == first


def test_the_checkpoint_holds_no_metric(evaluated: tuple[lw.Estimator, dict[str, Any]]) -> None:
    assert sorted(evaluated[0].get_variable_names()) == ["global_step", "w"]


def test_a_metric_that_was_never_updated_is_told(tmp_path: Path) -> None:
    def forgetful(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        return lw.EstimatorSpec(
            mode, loss=tf.reduce_mean(features["score"]), eval_metric_ops={"m": M.Mean(name="mine")}
        )

    with pytest.raises(
        lw.errors.ModelFnError, match=r'eval_metric_ops\[\'m\'\]: Please call update_state\(...\) on the "mine"'
    ):
        estimator(tmp_path, forgetful).evaluate(rows)


def test_a_metric_outside_of_the_spec_counts_in_training(tmp_path: Path) -> None:
    """A model may show a metric of its own while it trains; it is updated with the step, and not saved."""

    def shows(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        mean = M.Mean()
        mean.update_state(features["score"])
        tf.identity(mean.result(), name="shown")
        weight = v1.get_variable("w", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(features["score"]) * weight
        train_op = v1.train.GradientDescentOptimizer(0.0).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    class See(v1.train.SessionRunHook):
        def __init__(self) -> None:
            self.last = 0.0

        def end(self, session: Any) -> None:
            graph = session.graph
            total = [v for v in graph.get_collection(v1.GraphKeys.LOCAL_VARIABLES) if "total" in v.name]
            self.last = session.run(total[0])

    hook = See()
    est = estimator(tmp_path, shows)
    est.train(rows, hooks=[hook])
    np.testing.assert_allclose(hook.last, SCORES.sum(), rtol=1e-5)
    assert sorted(est.get_variable_names()) == ["global_step", "w"]


def test_the_update_is_one_operation_and_can_be_exported(tmp_path: Path) -> None:
    seen: list[Any] = []

    def counted(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        spec = model_fn(features, labels, mode)
        seen.extend(update for _, update in spec.eval_metric_ops.values())
        return spec

    est = estimator(tmp_path / "model", counted)
    est.train(lambda: rows().repeat(), steps=1)
    assert all(isinstance(update, tf.Operation | tf.Tensor) for update in seen)
    with tf.Graph().as_default():
        receiver = lw.estimator.experimental.build_raw_supervised_input_receiver_fn(
            {"score": v1.placeholder(tf.float32, [None], "score")}, v1.placeholder(tf.int64, [None], "label")
        )
    exported = est.experimental_export_all_saved_models(str(tmp_path / "export"), {"eval": receiver})
    with tf.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["eval"], exported.decode()).signature_def["eval"]
    assert "metrics/two updates/update_op" in signature.outputs
