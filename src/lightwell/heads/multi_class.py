"""`MultiClassHead`: one of several classes per example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.heads import labels as label_forms
from lightwell.heads.base import Head, described
from lightwell.heads.binary import BinaryClassHead
from lightwell.heads.classes import all_class_ids, all_class_names, class_names, classification_output, predicted
from lightwell.heads.labels import checked_vocabulary
from lightwell.heads.losses import (
    SUM_OVER_BATCH_SIZE,
    LossFn,
    checked_loss_fn,
    checked_reduction,
    losses_from,
    reduced,
    regularized,
    total_penalty,
)
from lightwell.heads.metrics import Accuracy, Mean
from lightwell.heads.shapes import checked_logits, weights_of
from lightwell.keys import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_SIGNATURE,
    PREDICT_SERVING_KEY,
    MetricKeys,
    PredictionKeys,
)
from lightwell.outputs import ExportOutput, PredictOutput


class MultiClassHead(Head):
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
        self._name = name
        where = described(self)
        self._n_classes = _checked_n_classes(n_classes, where)
        self._weight_column = weight_column
        self._vocabulary = checked_vocabulary(label_vocabulary, where, n_classes)
        self._loss_reduction = checked_reduction(loss_reduction, where)
        self._loss_fn = checked_loss_fn(loss_fn, where)

    @property
    def name(self) -> str | None:
        """The head's name."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """How many classes there are."""
        return self._n_classes

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one."""
        return self._loss_reduction

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The loss of a batch; see `Head.loss`."""
        with tf.name_scope("losses"):
            logits = checked_logits(logits, self._n_classes, described(self))
            losses, weights = self._unweighted_loss_and_weights(
                logits, self._processed_labels(logits, labels), features
            )
            return regularized(reduced(losses, weights, self._loss_reduction), regularization_losses)

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
            metrics: dict[str, Any] = {key(MetricKeys.LOSS_MEAN): Mean(MetricKeys.LOSS_MEAN)}
            if regularization_losses is not None:
                metrics[key(MetricKeys.LOSS_REGULARIZATION)] = Mean(MetricKeys.LOSS_REGULARIZATION)
            return metrics | {key(MetricKeys.ACCURACY): Accuracy(MetricKeys.ACCURACY)}

    def update_metrics(  # type: ignore[override]  # heads of tf.estimator leave out `mode`
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics; see `Head.update_metrics`."""
        logits = checked_logits(logits, self._n_classes, described(self))
        ids = self._processed_labels(logits, labels)
        losses, weights = self._unweighted_loss_and_weights(logits, ids, features)
        (chosen,) = self.predictions(logits, [PredictionKeys.CLASS_IDS]).values()
        eval_metrics[self._summary_key(MetricKeys.LOSS_MEAN)].update_state(losses, sample_weight=weights)
        eval_metrics[self._summary_key(MetricKeys.ACCURACY)].update_state(ids, chosen, sample_weight=weights)
        if regularization_losses is not None:
            penalty = total_penalty(regularization_losses)
            eval_metrics[self._summary_key(MetricKeys.LOSS_REGULARIZATION)].update_state(penalty)
        return eval_metrics

    def export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        """Scores of the classes, and all predictions."""
        scores = predictions[PredictionKeys.PROBABILITIES]
        classes = classification_output(scores, self._n_classes, self._vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE: classes,
            CLASSIFY_SERVING_KEY: classes,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        return label_forms.class_ids(labels, logits, self._n_classes, self._vocabulary, described(self))

    def _unweighted_loss_and_weights(self, logits: Any, label_ids: Any, features: Any) -> tuple[Any, Any]:
        where = described(self)
        if self._loss_fn is None:
            ids = tf.squeeze(label_ids, axis=-1)
            losses = tf.expand_dims(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits), -1)
        else:
            losses = losses_from(self._loss_fn, label_ids, logits, features, self._loss_reduction, 1, where)
        return losses, weights_of(features, self._weight_column, logits, where)


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
    if isinstance(n_classes, str) or not hasattr(n_classes, "__index__"):
        raise WrongType(f"{where}: n_classes must be a whole number, got {n_classes!r}.")
    if n_classes <= 2:
        raise UsageError(f"{where}: n_classes must be > 2: {n_classes}. For two classes there is BinaryClassHead.")
    return int(n_classes)
