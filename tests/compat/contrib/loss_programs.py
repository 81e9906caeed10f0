"""Programs over `tf.contrib.losses` and `tf.contrib.metrics`; see `playing.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

_DRAWS = np.random.RandomState(0)
LOGITS = _DRAWS.normal(size=[4, 3]).astype(np.float32)
LABELS = np.array([2, 0, 1, 1])
HOT = np.eye(3, dtype=np.float32)[LABELS]
SHARES = _DRAWS.uniform(0.1, 0.9, size=[4, 3]).astype(np.float32)
ROWS = np.array([1.0, 0.0, 2.0, 0.5], np.float32)


def _with_weights(tf: Any, function: Any, *tensors: Any) -> dict[str, Any]:
    return {
        "plain": function(*map(tf.constant, tensors)),
        "half": function(*map(tf.constant, tensors), weights=0.5, scope="half"),
        "rows": function(*map(tf.constant, tensors), weights=tf.constant(ROWS)),
        "total": tf.contrib.losses.get_total_loss(),
        "number": tf.constant(len(tf.contrib.losses.get_losses())),
        "named": tf.add_n(tf.contrib.losses.get_losses("half")),
    }


def absolute_difference(tf: Any) -> Any:
    return _with_weights(tf, tf.contrib.losses.absolute_difference, LOGITS, HOT)


def mean_squared_error(tf: Any) -> Any:
    made = _with_weights(tf, tf.contrib.losses.mean_squared_error, LOGITS, HOT)
    made["each"] = tf.contrib.losses.mean_squared_error(tf.constant(LOGITS), tf.constant(HOT), tf.constant(SHARES))
    return made


def log_loss(tf: Any) -> Any:
    return _with_weights(tf, tf.contrib.losses.log_loss, SHARES, HOT)


def sigmoid_cross_entropy(tf: Any) -> Any:
    made = _with_weights(tf, tf.contrib.losses.sigmoid_cross_entropy, LOGITS, HOT)
    made["smooth"] = tf.contrib.losses.sigmoid_cross_entropy(tf.constant(LOGITS), tf.constant(HOT), label_smoothing=0.1)
    return made


def softmax_cross_entropy(tf: Any) -> Any:
    made = _with_weights(tf, tf.contrib.losses.softmax_cross_entropy, LOGITS, HOT)
    made["smooth"] = tf.contrib.losses.softmax_cross_entropy(tf.constant(LOGITS), tf.constant(HOT), label_smoothing=0.1)
    return made


def sparse_softmax_cross_entropy(tf: Any) -> Any:
    return _with_weights(tf, tf.contrib.losses.sparse_softmax_cross_entropy, LOGITS, LABELS)


def mean_pairwise_squared_error(tf: Any) -> Any:
    return _with_weights(tf, tf.contrib.losses.mean_pairwise_squared_error, LOGITS, HOT)


def cosine_distance(tf: Any) -> Any:
    losses, unit = tf.contrib.losses, LOGITS / np.linalg.norm(LOGITS, axis=1, keepdims=True)
    return {
        "plain": losses.cosine_distance(tf.constant(unit), tf.constant(HOT), dim=1),
        "rows": losses.cosine_distance(tf.constant(unit), tf.constant(HOT), axis=1, weights=tf.constant(ROWS)),
    }


def hinge_loss(tf: Any) -> Any:
    made = tf.contrib.losses.hinge_loss(tf.constant(LOGITS), tf.constant(HOT))
    return {"each": made, "number": tf.constant(len(tf.contrib.losses.get_losses()))}


def losses_of_ones_own(tf: Any) -> Any:
    losses = tf.contrib.losses
    losses.add_loss(tf.constant(3.0))
    weighted = losses.compute_weighted_loss(tf.constant(SHARES), tf.constant(ROWS))
    tf.get_variable("w", [2], regularizer=tf.contrib.layers.l2_regularizer(0.5))
    return {
        "weighted": weighted,
        "total": losses.get_total_loss(),
        "without": losses.get_total_loss(add_regularization_losses=False),
        "penalty": tf.add_n(losses.get_regularization_losses()),
    }


def _streamed(tf: Any, **metrics: Any) -> Any:
    made: dict[str, Any] = {"train": [update for _, update in metrics.values()]}
    return {**made, **{name: update for name, (_, update) in metrics.items()}}


def streaming_of_classes(tf: Any) -> Any:
    metrics = tf.contrib.metrics
    predicted, labels = tf.constant([1, 0, 2, 1]), tf.constant(LABELS)
    yes, truth = tf.constant([True, False, True, True]), tf.constant([True, True, False, True])
    return _streamed(
        tf,
        accuracy=metrics.streaming_accuracy(predicted, labels),
        weighted=metrics.streaming_accuracy(predicted, labels, weights=tf.constant(ROWS), name="weighted"),
        precision=metrics.streaming_precision(yes, truth),
        recall=metrics.streaming_recall(yes, truth),
        true_positives=metrics.streaming_true_positives(yes, truth),
        false_negatives=metrics.streaming_false_negatives(yes, truth),
        iou=metrics.streaming_mean_iou(predicted, labels, 3),
    )


def streaming_of_numbers(tf: Any) -> Any:
    metrics = tf.contrib.metrics
    predicted, labels = tf.constant(SHARES), tf.constant(HOT)
    return _streamed(
        tf,
        mean=metrics.streaming_mean(predicted),
        tensor=metrics.streaming_mean_tensor(predicted),
        absolute=metrics.streaming_mean_absolute_error(predicted, labels),
        squared=metrics.streaming_mean_squared_error(predicted, labels),
        root=metrics.streaming_root_mean_squared_error(predicted, labels),
        relative=metrics.streaming_mean_relative_error(predicted, labels, labels + 1.0),
        less=metrics.streaming_percentage_less(predicted, 0.5),
        cosine=metrics.streaming_mean_cosine_distance(predicted, labels, 1),
    )


def streaming_over_thresholds(tf: Any) -> Any:
    metrics = tf.contrib.metrics
    predicted, labels = tf.constant(SHARES), tf.constant(HOT)
    return _streamed(
        tf,
        auc=metrics.streaming_auc(predicted, labels),
        curve=metrics.streaming_auc(predicted, labels, curve="PR", num_thresholds=50, name="pr"),
        precision=metrics.streaming_precision_at_thresholds(predicted, labels, [0.3, 0.5]),
        recall=metrics.streaming_recall_at_thresholds(predicted, labels, [0.3, 0.5]),
        sensitivity=metrics.streaming_sensitivity_at_specificity(predicted, labels, 0.5),
        specificity=metrics.streaming_specificity_at_sensitivity(predicted, labels, 0.5),
        positives=metrics.streaming_true_positives_at_thresholds(predicted, labels, [0.3, 0.5]),
    )


def streaming_at_k(tf: Any) -> Any:
    metrics, predicted = tf.contrib.metrics, tf.constant(SHARES)
    labels = tf.constant(LABELS[:, None], tf.int64)
    return _streamed(
        tf,
        recall=metrics.streaming_recall_at_k(predicted, tf.constant(LABELS), 2),
        sparse_recall=metrics.streaming_sparse_recall_at_k(predicted, labels, 2),
        sparse_precision=metrics.streaming_sparse_precision_at_k(predicted, labels, 2),
        average=metrics.streaming_sparse_average_precision_at_k(predicted, labels, 2),
    )


def metrics_of_a_batch(tf: Any) -> Any:
    metrics = tf.contrib.metrics
    predicted, labels = tf.constant([1, 0, 2, 1], tf.int64), tf.constant(LABELS)
    values, updates = metrics.aggregate_metrics(
        metrics.streaming_mean(tf.constant(ROWS)), metrics.streaming_accuracy(predicted, labels)
    )
    by_name, _ = metrics.aggregate_metric_map({"accuracy": metrics.streaming_accuracy(predicted, labels)})
    return {
        "accuracy": metrics.accuracy(predicted, labels),
        "weighted": metrics.accuracy(predicted, labels, weights=tf.constant(ROWS)),
        "confusion": metrics.confusion_matrix(labels, predicted),
        "number": tf.constant([len(values), len(updates), len(by_name)]),
        "train": updates,
    }


PROGRAMS: dict[str, Any] = {
    one.__name__: one
    for one in (
        absolute_difference,
        mean_squared_error,
        log_loss,
        sigmoid_cross_entropy,
        softmax_cross_entropy,
        sparse_softmax_cross_entropy,
        mean_pairwise_squared_error,
        cosine_distance,
        hinge_loss,
        losses_of_ones_own,
        streaming_of_classes,
        streaming_of_numbers,
        streaming_over_thresholds,
        streaming_at_k,
        metrics_of_a_batch,
    )
}
