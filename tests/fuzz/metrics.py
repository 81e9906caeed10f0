"""Kinds of metrics: TensorFlow's, and some written by hand. Each enters one or more in `at.metrics`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.fuzz.parts import one_of, part

v1 = tf.compat.v1

_OF_NUMBERS = ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error")
_OF_CLASSES = (
    "accuracy",
    "precision",
    "recall",
    "true_positives",
    "false_positives",
    "true_negatives",
    "false_negatives",
)
_OF_CHANCES = (
    "auc",
    "precision_at_thresholds",
    "recall_at_thresholds",
    "false_negatives_at_thresholds",
    "true_positives_at_thresholds",
    "sensitivity_at_specificity",
    "specificity_at_sensitivity",
)


@part("metric", name=one_of(*_OF_NUMBERS))
def of_numbers(at: Any, name: str) -> None:
    at.metrics[name] = getattr(v1.metrics, name)(at.labels, at.predictions["out"])


@part("metric")
def relative_error(at: Any) -> None:
    at.metrics["relative"] = v1.metrics.mean_relative_error(
        at.labels, at.predictions["out"], normalizer=tf.abs(at.labels) + 1.0
    )


@part("metric", name=one_of(*_OF_CLASSES))
def of_classes(at: Any, name: str) -> None:
    at.metrics[name] = getattr(v1.metrics, name)(at.labels > 0, at.predictions["out"] > 0.1)


@part("metric", name=one_of(*_OF_CHANCES))
def of_chances(at: Any, name: str) -> None:
    truth, chance = at.labels > 0, tf.sigmoid(at.predictions["out"])
    if name == "auc":
        made = v1.metrics.auc(truth, chance, num_thresholds=20)
    elif name.endswith("_at_thresholds"):
        made = getattr(v1.metrics, name)(truth, chance, [0.25, 0.5, 0.75])
    else:
        made = getattr(v1.metrics, name)(truth, chance, 0.6, num_thresholds=20)
    at.metrics[name] = made


@part("metric", weighted=one_of(False, True))
def mean(at: Any, weighted: bool) -> None:
    weights = tf.abs(at.labels) if weighted else None
    at.metrics["mean"] = v1.metrics.mean(at.predictions["out"], weights)


@part("metric")
def mean_tensor(at: Any) -> None:
    at.metrics["mean_tensor"] = v1.metrics.mean_tensor(tf.reduce_sum(at.features["x"], 0))


@part("metric")
def percentage_below(at: Any) -> None:
    at.metrics["below"] = v1.metrics.percentage_below(at.predictions["out"], 0.3)


@part("metric")
def of_a_matrix(at: Any) -> None:
    truth, told = tf.cast(at.labels > 0, tf.int64), tf.cast(at.predictions["out"] > 0.1, tf.int64)
    at.metrics["iou"] = v1.metrics.mean_iou(truth, told, 2)
    at.metrics["per_class"] = v1.metrics.mean_per_class_accuracy(truth, told, 2)


@part("metric")
def top_k(at: Any) -> None:
    truth = tf.cast(at.labels > 0, tf.int64)[:, None]
    scores = tf.stack([at.predictions["out"], -at.predictions["out"], 0.1 * at.labels], 1)
    at.metrics["recall_at_2"] = v1.metrics.recall_at_k(truth, scores, 2)
    at.metrics["precision_at_1"] = v1.metrics.precision_at_k(truth, scores, 1)
    at.metrics["average_precision"] = v1.metrics.average_precision_at_k(truth, scores, 2)


@part("metric")
def cosine(at: Any) -> None:
    both = tf.stack([at.labels, at.predictions["out"]], 1)
    at.metrics["cosine"] = v1.metrics.mean_cosine_distance(
        tf.nn.l2_normalize(both + 1.5, 1), tf.nn.l2_normalize(tf.ones_like(both), 1), 1
    )


@part("metric", update=one_of("tensor", "group", "read"))
def counted_rows(at: Any, update: str) -> None:
    """A metric by hand: a local variable, what it holds, and the op that counts on."""
    count = v1.get_variable(
        "rows",
        [],
        tf.float32,
        v1.zeros_initializer(),
        trainable=False,
        collections=[v1.GraphKeys.LOCAL_VARIABLES, v1.GraphKeys.METRIC_VARIABLES],
    )
    added = count.assign_add(tf.cast(tf.size(at.labels), tf.float32))
    if update == "group":
        added = tf.group(added)
    elif update == "read":
        with tf.control_dependencies([added]):
            added = count.read_value()
    at.metrics["rows"] = (count.read_value(), added)


@part("metric", weight=0.5)
def of_an_object(at: Any) -> None:
    metric = tf.keras.metrics.Mean(name="object_mean")
    metric.update_state(at.predictions["out"])
    at.metrics["object_mean"] = metric


@part("metric", weight=0.5)
def constant(at: Any) -> None:
    at.metrics["constant"] = (tf.constant(3.0), tf.no_op())


@part("metric", weight=0.5)
def streaming_correlation(at: Any) -> None:
    """Two metrics in one number."""
    one, more = v1.metrics.mean(at.predictions["out"] * at.labels)
    other, also = v1.metrics.mean(tf.square(at.labels))
    at.metrics["ratio"] = (one / (other + 1.0), tf.group(more, also))
