"""Metrics in evaluation: v1 pairs and Keras objects, right values, and zero again the next time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw
from lightwell.errors import ModelFnError

v1 = tf.compat.v1
RNG = np.random.default_rng(0)
SCORES = RNG.random(20).astype(np.float32)
LABELS = (RNG.random(20) < SCORES).astype(np.float32)
CLASS_SCORES = RNG.random((20, 3)).astype(np.float32)
CLASSES = RNG.integers(0, 3, 20)


def data() -> Any:
    features = {"score": SCORES, "scores": CLASS_SCORES}
    return tf.data.Dataset.from_tensor_slices((features, {"label": LABELS, "class": CLASSES})).batch(6)


def evaluated(metrics: Callable[[Any, Any], dict[str, Any]], model_dir: Path, times: int = 1) -> list[dict[str, Any]]:
    """The results of evaluating `metrics(features, labels)` a number of times."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        loss = tf.reduce_mean(features["score"])
        return lw.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics(features, labels))

    made = tiny.estimator(model_dir, model_fn)
    return [made.evaluate(data) for _ in range(times)]


def updated(metric: Any, *args: Any, **kwargs: Any) -> Any:
    metric.update_state(*args, **kwargs)
    return metric


KERAS: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], tuple[Any, ...]]]] = {
    "mean": (lambda: keras.metrics.Mean(), lambda f, y: (f["score"],)),
    "sum": (lambda: keras.metrics.Sum(), lambda f, y: (f["score"],)),
    "binary_accuracy": (lambda: keras.metrics.BinaryAccuracy(), lambda f, y: (y["label"], f["score"])),
    "accuracy": (lambda: keras.metrics.Accuracy(), lambda f, y: (y["class"], y["class"])),
    "sparse_accuracy": (lambda: keras.metrics.SparseCategoricalAccuracy(), lambda f, y: (y["class"], f["scores"])),
    "auc": (lambda: keras.metrics.AUC(num_thresholds=20), lambda f, y: (y["label"], f["score"])),
    "precision": (lambda: keras.metrics.Precision(), lambda f, y: (y["label"], f["score"])),
    "recall": (lambda: keras.metrics.Recall(), lambda f, y: (y["label"], f["score"])),
    "rmse": (lambda: keras.metrics.RootMeanSquaredError(), lambda f, y: (y["label"], f["score"])),
    "mae": (lambda: keras.metrics.MeanAbsoluteError(), lambda f, y: (y["label"], f["score"])),
    "crossentropy": (lambda: keras.metrics.BinaryCrossentropy(), lambda f, y: (y["label"], f["score"])),
    "iou": (
        lambda: keras.metrics.MeanIoU(3, sparse_y_pred=False),
        lambda f, y: (y["class"], f["scores"]),
    ),
    "top_k": (lambda: keras.metrics.SparseTopKCategoricalAccuracy(2), lambda f, y: (y["class"], f["scores"])),
    "false_positives": (lambda: keras.metrics.FalsePositives(), lambda f, y: (y["label"], f["score"])),
    "f1": (
        lambda: keras.metrics.F1Score(average="macro"),
        lambda f, y: (keras.ops.one_hot(keras.ops.cast(y["class"], "int32"), 3), f["scores"]),
    ),
}


def test_keras_metrics_have_the_values_of_eager_keras_and_start_over(tmp_path: Path) -> None:
    first, second = evaluated(
        lambda f, y: {name: updated(make(), *given(f, y)) for name, (make, given) in KERAS.items()}, tmp_path, times=2
    )
    eager = {name: make() for name, (make, _) in KERAS.items()}
    for features, labels in data():
        for name, (_, given) in KERAS.items():
            eager[name].update_state(*given(features, labels))
    for name, metric in eager.items():
        assert first[name] == pytest.approx(float(metric.result()), rel=1e-5), name
        assert isinstance(first[name], np.floating | np.integer), name
    assert first == second


def test_keras_metrics_are_not_part_of_the_model(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        metrics = {"mean": updated(keras.metrics.Mean(), labels)} if mode == "eval" else {}
        return spec._replace(eval_metric_ops=metrics)

    made = tiny.estimator(tmp_path, model_fn)
    made.train(tiny.data, steps=1)
    assert made.get_variable_names() == ["b", "global_step", "w"]
    assert made.evaluate(tiny.once)["mean"] == tiny.Y.mean()


def test_a_metric_in_a_spec_that_serves_training_too_is_left_alone(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        mean = updated(keras.metrics.Mean(name="labels_mean"), labels)
        return tiny.linear(features, labels, mode, {})._replace(eval_metric_ops={"mean": mean})

    made = tiny.estimator(tmp_path, model_fn)
    made.train(tiny.data, steps=2)
    assert made.evaluate(tiny.once)["mean"] == tiny.Y.mean()


def test_weights_and_several_updates_of_one_metric(tmp_path: Path) -> None:
    def metrics(features: Any, labels: Any) -> dict[str, Any]:
        twice = keras.metrics.Mean()
        twice.update_state(features["score"])
        twice.update_state(features["score"] + 2.0)
        weighted = updated(keras.metrics.Mean(), features["score"], sample_weight=labels["label"])
        return {"twice": twice, "weighted": weighted}

    (result,) = evaluated(metrics, tmp_path)
    assert result["twice"] == pytest.approx(SCORES.mean() + 1, rel=1e-5)
    assert result["weighted"] == pytest.approx((SCORES * LABELS).sum() / LABELS.sum(), rel=1e-5)


def test_a_keras_metric_that_saw_no_data_says_what_to_do(tmp_path: Path) -> None:
    text = r"eval_metric_ops\['m'\]: Please call update_state\(\.\.\.\) on the \"mine\" metric inside model_fn"
    with pytest.raises(ModelFnError, match=text):
        evaluated(lambda f, y: {"m": keras.metrics.Mean(name="mine")}, tmp_path)


@pytest.mark.parametrize("name", ["loss", "global_step"])
def test_reserved_names(tmp_path: Path, name: str) -> None:
    text = f"Metric with name .{name}. is not allowed, because Estimator already defines.*Give it another name"
    with pytest.raises(ModelFnError, match=text):
        evaluated(lambda f, y: {name: v1.metrics.mean(f["score"])}, tmp_path)


def test_v1_pairs(tmp_path: Path) -> None:
    def metrics(features: Any, labels: Any) -> dict[str, Any]:
        predicted = tf.argmax(features["scores"], axis=1)
        return {
            "accuracy": v1.metrics.accuracy(labels["class"], predicted),
            "auc": v1.metrics.auc(labels["label"], features["score"]),
            "mean": v1.metrics.mean(features["score"]),
            "tensor": v1.metrics.mean_tensor(tf.reduce_mean(features["scores"], axis=0)),
        }

    first, second = evaluated(metrics, tmp_path, times=2)
    assert first["accuracy"] == pytest.approx((CLASS_SCORES.argmax(1) == CLASSES).mean(), rel=1e-6)
    assert first["mean"] == pytest.approx(SCORES.mean(), rel=1e-6)
    assert first["tensor"].shape == (3,)
    assert np.array_equal(first.pop("tensor"), second.pop("tensor"))
    assert first == second


def test_pairs_of_ones_own_keep_their_types(tmp_path: Path) -> None:
    def metrics(features: Any, labels: Any) -> dict[str, Any]:
        count = v1.get_variable("count", [], tf.int32, v1.zeros_initializer(), collections=["local_variables"])
        step = v1.assign_add(count, 1)
        return {
            "batches": (count, step),
            "op": (tf.constant(2.0, tf.float64), tf.group(step)),
            "flag": (tf.constant(True), tf.no_op()),
            "text": (tf.constant("word"), tf.no_op()),
        }

    (result,) = evaluated(metrics, tmp_path)
    assert isinstance(result["op"], np.float64)
    assert isinstance(result["batches"], np.int32)
    assert (result["flag"], result["text"]) == (True, b"word")


def test_values_see_all_batches_whatever_was_built_around_them(tmp_path: Path) -> None:
    def metrics(features: Any, labels: Any) -> dict[str, Any]:
        with tf.control_dependencies([tf.no_op()]):
            return {"m": updated(keras.metrics.Sum(), tf.ones_like(features["score"]))}

    assert evaluated(metrics, tmp_path)[0]["m"] == 20


def test_a_value_may_be_a_structure(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        weight = v1.get_variable("weight", [], initializer=v1.ones_initializer())
        loss = tf.reduce_mean(features * weight)
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        mean, update = v1.metrics.mean(features)
        metrics = {"listed": ([mean], update), "named": ({"a": mean}, update)}
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def data() -> Any:
        return tf.data.Dataset.from_tensors(np.full((2, 1), 4, np.float32))

    est = lw.Estimator(model_fn, str(tmp_path))
    est.train(data, steps=1)
    for _ in range(2):  # the second may find the session of the first
        found = est.evaluate(data)
        assert (found["listed"], found["named"]) == ([4.0], {"a": 4.0})  # as 2.15.1
