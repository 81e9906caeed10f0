"""`MultiClassHead`: one of several classes per example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import (
    MetricKeys,
    PredictionKeys,
)
from lightwell.errors import UsageError
from lightwell.model.heads import labels as label_forms
from lightwell.model.heads.base import Head, described
from lightwell.model.heads.binary import BinaryClassHead
from lightwell.model.heads.check import whole_number
from lightwell.model.heads.classes import all_class_ids, all_class_names, class_names, classifying_outputs, predicted
from lightwell.model.heads.labels import checked_vocabulary
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE, LossFn
from lightwell.model.heads.metrics import Accuracy, Mean
from lightwell.model.heads.one_task import OneTaskHead
from lightwell.model.heads.penalty import penalty_metric, update_penalty_metric
from lightwell.model.heads.shapes import checked_logits
from lightwell.model.outputs import ExportOutput


class MultiClassHead(OneTaskHead):
    """For three classes and more; the loss is the softmax cross entropy.

    Logits are `[D0, D1, ... DN, n_classes]`, usually `[batch_size, n_classes]`; labels and weights are
    `[D0, D1, ... DN, 1]`, or without the last dimension.

    Args:
        n_classes: how many classes there are, more than 2 (for 2 there is `BinaryClassHead`).
        weight_column: the name of a feature, or a `tf.feature_column.numeric_column`, that holds a weight for each
            example.
        label_vocabulary: the classes by name; labels are strings then. Without one they are integers below `n_classes`.
        loss_reduction: how the losses of a batch become one: `sum_over_batch_size` or `sum`, of `tf.losses.Reduction`;
            or one of `tf.compat.v1.losses.Reduction`.
        loss_fn: in place of the cross entropy: takes `labels` (integers) and `logits`, and `features` and
            `loss_reduction` if it has such arguments; gives a loss for each example, `[D0, D1, ... DN, 1]`.
        name: a suffix of metrics and summaries, and the scope of ops.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, weight_column, loss_reduction, loss_fn)
        where = described(self)
        self._n_classes = _checked_n_classes(n_classes, where)
        self._vocabulary = checked_vocabulary(label_vocabulary, where, n_classes)

    @property
    def logits_dimension(self) -> int:
        """How many classes there are."""
        return self._n_classes

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Logits, probabilities and classes; see `Head.predictions`."""
        with tf.name_scope("predictions"):
            logits = checked_logits(logits, self._n_classes, described(self))
            ids = tf.expand_dims(tf.argmax(logits, axis=-1), -1)
            makers = {
                PredictionKeys.LOGITS: lambda: logits,
                PredictionKeys.PROBABILITIES: lambda: tf.nn.softmax(logits, name="probabilities"),
                PredictionKeys.CLASS_IDS: lambda: ids,
                PredictionKeys.CLASSES: lambda: class_names(ids, self._vocabulary),
                PredictionKeys.ALL_CLASS_IDS: lambda: all_class_ids(logits, self._n_classes),
                PredictionKeys.ALL_CLASSES: lambda: all_class_names(logits, self._n_classes, self._vocabulary),
            }
            return predicted(makers, keys, described(self))

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics; see `Head.metrics`."""
        key = self._summary_key
        with tf.name_scope("metrics"):
            return {
                key(MetricKeys.LOSS_MEAN): Mean(MetricKeys.LOSS_MEAN),
                **penalty_metric(key(MetricKeys.LOSS_REGULARIZATION), regularization_losses),
                key(MetricKeys.ACCURACY): Accuracy(MetricKeys.ACCURACY),
            }

    def update_metrics(  # type: ignore[override]  # heads of tf.estimator leave out `mode`
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics; see `Head.update_metrics`."""
        key, batch = self._summary_key, self.weighed(labels, logits, features)
        (chosen,) = self.predictions(batch.logits, [PredictionKeys.CLASS_IDS]).values()
        eval_metrics[key(MetricKeys.LOSS_MEAN)].update_state(batch.losses, sample_weight=batch.weights)
        eval_metrics[key(MetricKeys.ACCURACY)].update_state(batch.labels, chosen, sample_weight=batch.weights)
        update_penalty_metric(eval_metrics, key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
        return eval_metrics

    def export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        """Scores of the classes, and all predictions."""
        return classifying_outputs(predictions, self._n_classes, self._vocabulary)

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        return label_forms.class_ids(labels, logits, self._n_classes, self._vocabulary, described(self))

    def _own_losses(self, labels: Any, logits: Any) -> Any:
        ids = tf.squeeze(labels, axis=-1)
        return tf.expand_dims(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits), -1)


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> Head:
    """The head of a classifier: for two classes a `BinaryClassHead`, for more a `MultiClassHead`."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, None, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)


def _checked_n_classes(n_classes: Any, where: str) -> int:
    if n_classes is None:
        raise UsageError(f"{where}: n_classes cannot be None. It is how many classes there are.")
    if whole_number(n_classes, "n_classes", where) <= 2:
        raise UsageError(f"{where}: n_classes must be > 2: {n_classes}. For two classes there is BinaryClassHead.")
    return int(n_classes)
