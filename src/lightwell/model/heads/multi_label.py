"""`MultiLabelHead`: any number of classes per example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import (
    MetricKeys,
    PredictionKeys,
)
from lightwell.errors import UsageError, WrongType
from lightwell.model.heads import labels as label_forms
from lightwell.model.heads.base import described
from lightwell.model.heads.check import whole_number
from lightwell.model.heads.classes import all_class_names, classifying_outputs, predicted
from lightwell.model.heads.labels import Vocabulary, checked_vocabulary
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE, LossFn
from lightwell.model.heads.metrics import AUC, Mean
from lightwell.model.heads.one_task import OneTaskHead
from lightwell.model.heads.penalty import penalty_metric, update_penalty_metric
from lightwell.model.heads.shapes import checked_logits
from lightwell.model.heads.thresholds import checked_thresholds, threshold_metrics, update_threshold_metrics
from lightwell.model.outputs import ExportOutput


class MultiLabelHead(OneTaskHead):
    """For examples that are of several classes, or of none; the loss is the mean sigmoid cross entropy of the classes.

    Logits are `[D0, D1, ... DN, n_classes]`, usually `[batch_size, n_classes]`. Labels are zeros and ones of the same
    shape; or a `SparseTensor` or `RaggedTensor` that holds the classes of each example, as integers or, with a
    `label_vocabulary`, as strings. Weights are `[D0, D1, ... DN, 1]`, or without the last dimension.

    Args:
        n_classes: how many classes there are, more than 1.
        weight_column: the name of a feature, or a `tf.feature_column.numeric_column`, that holds a weight for each
            example.
        thresholds: probabilities in (0, 1) at which accuracy, precision and recall are metrics, too.
        label_vocabulary: the classes by name.
        loss_reduction: how the losses of a batch become one: `sum_over_batch_size` or `sum`, of `tf.losses.Reduction`;
            or one of `tf.compat.v1.losses.Reduction`.
        loss_fn: in place of the cross entropy: takes `labels` (zeros and ones) and `logits`, and `features` and
            `loss_reduction` if it has such arguments; gives a loss for each example, `[D0, D1, ... DN, 1]`.
        classes_for_class_based_metrics: classes, by number or by name, that have metrics of their own.
        name: a suffix of metrics and summaries, and the scope of ops.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        classes_for_class_based_metrics: Sequence[int | str] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, weight_column, loss_reduction, loss_fn)
        where = described(self)
        self._n_classes = _checked_n_classes(n_classes, where)
        self._thresholds = checked_thresholds(thresholds, where)
        self._vocabulary = checked_vocabulary(label_vocabulary, where, n_classes, several=True)
        self._rate_curve, self._precision_curve = "ROC", "PR"
        self._predicts_names = True
        self._own_metrics_of = _checked_classes(
            classes_for_class_based_metrics, self._n_classes, self._vocabulary, where
        )

    @property
    def logits_dimension(self) -> int:
        """How many classes there are."""
        return self._n_classes

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Logits, probabilities, and the names of all classes; see `Head.predictions`."""
        with tf.name_scope("predictions"):
            logits = checked_logits(logits, self._n_classes, described(self))
            makers = {
                PredictionKeys.LOGITS: lambda: logits,
                PredictionKeys.PROBABILITIES: lambda: tf.sigmoid(logits, name="probabilities"),
                PredictionKeys.CLASSES: lambda: all_class_names(logits, self._n_classes, self._vocabulary),
            }
            if keys is None and not self._predicts_names:
                keys = [PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES]
            return predicted(makers, keys, described(self))

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics; see `Head.metrics`."""
        key = self._summary_key
        with tf.name_scope("metrics"):
            metrics: dict[str, Any] = {
                key(MetricKeys.LOSS_MEAN): Mean(MetricKeys.LOSS_MEAN),
                key(MetricKeys.AUC): AUC(MetricKeys.AUC, curve=self._rate_curve),
                key(MetricKeys.AUC_PR): AUC(MetricKeys.AUC_PR, curve=self._precision_curve),
            }
            metrics |= penalty_metric(key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
            metrics |= threshold_metrics(self._thresholds, key)
            for class_id in self._own_metrics_of:
                mean, auc, precision_recall = self._class_keys(class_id)
                metrics |= {
                    mean: Mean(mean),
                    auc: AUC(auc, curve=self._rate_curve),
                    precision_recall: AUC(precision_recall, curve=self._precision_curve),
                }
            return metrics

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
        labels, weights = batch.labels, batch.weights
        (probabilities,) = self.predictions(batch.logits, [PredictionKeys.PROBABILITIES]).values()
        eval_metrics[key(MetricKeys.LOSS_MEAN)].update_state(batch.losses, sample_weight=weights)
        for curve in (MetricKeys.AUC, MetricKeys.AUC_PR):
            eval_metrics[key(curve)].update_state(labels, probabilities, sample_weight=weights)
        update_penalty_metric(eval_metrics, key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
        update_threshold_metrics(eval_metrics, self._thresholds, key, labels, probabilities, weights)
        for class_id in self._own_metrics_of:
            mean, *curves = self._class_keys(class_id)
            label, probability = (each[..., class_id : class_id + 1] for each in (labels, probabilities))
            eval_metrics[mean].update_state(probability, sample_weight=weights)
            for curve in curves:
                eval_metrics[curve].update_state(label, probability, sample_weight=weights)
        return eval_metrics

    def export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        """Scores of the classes, and all predictions."""
        return classifying_outputs(predictions, self._n_classes, self._vocabulary)

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        return label_forms.multi_hot(labels, logits, self._n_classes, self._vocabulary, described(self))

    def _own_losses(self, labels: Any, logits: Any) -> Any:
        labels = tf.cast(labels, tf.float32)
        per_class = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return tf.reduce_mean(per_class, axis=-1, keepdims=True)

    def _class_keys(self, class_id: int) -> list[str]:
        """The names of the metrics of one class: its mean probability and two areas."""
        if self._vocabulary is None:
            keys = MetricKeys.PROBABILITY_MEAN_AT_CLASS, MetricKeys.AUC_AT_CLASS, MetricKeys.AUC_PR_AT_CLASS
            return [self._summary_key(key % class_id) for key in keys]
        by_name = MetricKeys.PROBABILITY_MEAN_AT_NAME, MetricKeys.AUC_AT_NAME, MetricKeys.AUC_PR_AT_NAME
        return [self._summary_key(key % self._vocabulary.words[class_id]) for key in by_name]


def _checked_n_classes(n_classes: Any, where: str) -> int:
    if n_classes is None or whole_number(n_classes, "n_classes", where) < 2:
        raise UsageError(
            f"{where}: n_classes must be > 1 for multi-label classification. Given: {n_classes}. For one yes or no "
            "there is BinaryClassHead."
        )
    return int(n_classes)


def _checked_classes(classes: Any, n_classes: int, vocabulary: Vocabulary | None, where: str) -> tuple[int, ...]:
    if not classes:
        return ()
    argument = "classes_for_class_based_metrics"
    if isinstance(classes, str):
        needs = "" if vocabulary is not None else f" label_vocabulary must be provided when {argument} are strings."
        raise UsageError(f"{where}: {argument} must be a list of classes, got the text {classes!r}.{needs}")
    if not hasattr(classes, "__iter__"):
        raise WrongType(f"{where}: {argument} must be a list of classes, got {classes!r}: not iterable as one.")
    ids = []
    for entry in classes:
        if isinstance(entry, str):
            if vocabulary is None:
                raise UsageError(f"{where}: label_vocabulary must be provided when {argument} are strings.")
            if entry not in vocabulary.words:
                raise UsageError(f"{where}: {argument}: {entry!r} is not in list label_vocabulary {vocabulary.words}.")
            ids.append(vocabulary.words.index(entry))
        elif not 0 <= entry < n_classes:
            raise UsageError(f"{where}: All {argument} must be in range [0, {n_classes - 1}]. Given: {entry}")
        else:
            ids.append(int(entry))
    return tuple(ids)
