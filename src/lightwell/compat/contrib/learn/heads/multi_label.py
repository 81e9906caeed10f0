"""The head of classes of which an example has any number: `multi_label_head`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.learn.estimators.constants import PredictionKey, ProblemType
from lightwell.compat.contrib.learn.heads.base import Head, SingleHead, column
from lightwell.compat.contrib.learn.heads.metrics import metrics_of_classes
from lightwell.errors import UsageError

_metrics = tf.compat.v1.metrics


class MultiLabelHead(SingleHead):
    """A logit for each class; labels are 0 or 1 for each class, or a sparse tensor of class numbers."""

    default_name = "multi_label_head"

    def __init__(
        self,
        n_classes: int,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
        metric_class_ids: Sequence[int] | None,
        loss_fn: Callable[..., Any] | None,
    ) -> None:
        super().__init__(
            ProblemType.CLASSIFICATION, n_classes, label_name, weight_column_name, enable_centered_bias, head_name
        )
        self._class_ids = tuple(metric_class_ids or ())
        self._loss_fn = loss_fn

    def losses(self, logits: Any, labels: Any) -> Any:
        truth = tf.cast(labels, tf.float32)
        if self._loss_fn is not None:
            return self._loss_fn(truth, logits)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits)

    def predictions(self, logits: Any) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.sigmoid(logits),
            PredictionKey.CLASSES: tf.cast(logits > 0, tf.int64),
        }

    def metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes, probabilities = predictions[PredictionKey.CLASSES], predictions[PredictionKey.PROBABILITIES]
        spread = weights
        if weights is not None:
            spread = tf.broadcast_to(tf.reshape(weights, [-1, 1]), tf.shape(probabilities))
        truth = tf.cast(labels, tf.bool)
        made = {
            "accuracy": _metrics.accuracy(tf.cast(labels, tf.int64), classes, spread),
            "auc": _metrics.auc(truth, probabilities, spread),
            "auc_precision_recall": _metrics.auc(truth, probabilities, spread, curve="PR"),
        }
        logits = predictions[PredictionKey.LOGITS]
        return made | metrics_of_classes(self._class_ids, logits, probabilities, classes, truth, weights, areas=True)

    def _processed(self, labels: Any) -> Any:
        if isinstance(labels, tf.SparseTensor):
            return tf.cast(tf.compat.v1.sparse_to_indicator(labels, self.logits_dimension), tf.int64)
        return column(labels)


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """A head of classes of which an example has any number; `thresholds` has no effect. See `multi_class_head`."""
    del thresholds
    if n_classes < 2:
        raise UsageError(f"multi_label_head: n_classes must be > 1 for classification: {n_classes}.")
    return MultiLabelHead(
        n_classes, label_name, weight_column_name, enable_centered_bias, head_name, metric_class_ids, loss_fn
    )
