"""Metrics that heads of contrib.learn share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

_metrics = tf.compat.v1.metrics


def accuracy_of(classes: Any, labels: Any, weights: Any) -> Any:
    """How often the class is right."""
    return _metrics.accuracy(_flat(labels), _flat(classes), _flat(weights))


def metrics_of_two_classes(
    classes: Any, logistic: Any, labels: Any, weights: Any, thresholds: Sequence[float]
) -> dict[str, Any]:
    """Accuracy, the areas under curves, and metrics at thresholds.

    Args:
        classes: 0 or 1.
        logistic: the probability of 1.
        labels: 0 or 1.
        weights: of each example, or None.
        thresholds: of the probability.
    """
    shares, truth, factor = _flat(logistic), tf.cast(_flat(labels), tf.float32), _flat(weights)
    made = {
        "accuracy": accuracy_of(classes, labels, weights),
        "labels/prediction_mean": _metrics.mean(shares, factor),
        "labels/actual_label_mean": _metrics.mean(truth, factor),
        "accuracy/baseline_label_mean": _metrics.mean(truth, factor),
        "auc": _area(shares, truth, factor),
        "auc_precision_recall": _area(shares, truth, factor, curve="PR"),
    }
    for threshold in thresholds:
        above = tf.cast(shares > threshold, tf.float32)
        made[f"accuracy/threshold_{threshold:f}_mean"] = _metrics.accuracy(truth, above, factor)
        made[f"precision/positive_threshold_{threshold:f}_mean"] = _at(
            _metrics.precision_at_thresholds, shares, truth, factor, threshold
        )
        made[f"recall/positive_threshold_{threshold:f}_mean"] = _at(
            _metrics.recall_at_thresholds, shares, truth, factor, threshold
        )
    return made


def metrics_of_classes(
    numbers: Sequence[int], logits: Any, probabilities: Any, said: Any, truth: Any, weights: Any, *, areas: bool
) -> dict[str, Any]:
    """Metrics of single classes; the tensors are `[batch, classes]`.

    Args:
        numbers: the classes.
        logits: of each class.
        probabilities: of each class.
        said: 1 for each class that the model says.
        truth: 1 for each class that is right.
        weights: of each example, or None.
        areas: whether areas under curves are among them.
    """
    made, factor = {}, _flat(weights)
    for number in numbers:
        of_class = f"class{number}"
        shares, right = probabilities[:, number], tf.cast(truth[:, number], tf.float32)
        made[f"labels/prediction_mean/{of_class}"] = _metrics.mean(tf.cast(said[:, number], tf.float32), factor)
        made[f"labels/probability_mean/{of_class}"] = _metrics.mean(shares, factor)
        made[f"labels/logits_mean/{of_class}"] = _metrics.mean(logits[:, number], factor)
        made[f"labels/actual_label_mean/{of_class}"] = _metrics.mean(right, factor)
        if areas:
            made[f"auc/{of_class}"] = _area(shares, right, factor)
            made[f"auc_precision_recall/{of_class}"] = _area(shares, right, factor, curve="PR")
    return made


def _area(shares: Any, truth: Any, weights: Any, curve: str = "ROC") -> Any:
    return _metrics.auc(tf.cast(truth, tf.bool), shares, weights, curve=curve)


def _at(metric: Callable[..., Any], shares: Any, truth: Any, weights: Any, threshold: float) -> Any:
    value, update = metric(tf.cast(truth, tf.bool), shares, [threshold], weights)
    return tf.squeeze(value), tf.squeeze(update)


def _flat(values: Any) -> Any:
    return None if values is None else tf.reshape(values, [-1])
