"""`BinaryClassHead`: one of two classes per example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import (
    REGRESS_SERVING_KEY,
    MetricKeys,
    PredictionKeys,
)
from lightwell.model.heads import labels as label_forms
from lightwell.model.heads.base import described
from lightwell.model.heads.classes import (
    all_class_ids,
    all_class_names,
    class_names,
    classifying_outputs,
    predicted,
)
from lightwell.model.heads.labels import checked_vocabulary
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE, LossFn
from lightwell.model.heads.metrics import AUC, Accuracy, Baseline, Mean, Precision, Recall
from lightwell.model.heads.one_task import OneTaskHead
from lightwell.model.heads.penalty import penalty_metric, update_penalty_metric
from lightwell.model.heads.shapes import checked_logits
from lightwell.model.heads.thresholds import checked_thresholds, threshold_metrics, update_threshold_metrics
from lightwell.model.outputs import ExportOutput, RegressionOutput


class BinaryClassHead(OneTaskHead):
    """For two classes; the loss is the sigmoid cross entropy.

    Logits are `[D0, D1, ... DN, 1]`, usually `[batch_size, 1]`, and so are labels and weights, whose last dimension may
    be missing.

    Args:
        weight_column: the name of a feature, or a `tf.feature_column.numeric_column`, that holds a weight for each
            example.
        thresholds: probabilities in (0, 1) at which accuracy, precision and recall are metrics, too.
        label_vocabulary: the two classes by name; labels are strings then. Without one they are numbers from 0 to 1.
        loss_reduction: how the losses of a batch become one: `sum_over_batch_size` or `sum`, of `tf.losses.Reduction`;
            or one of `tf.compat.v1.losses.Reduction`.
        loss_fn: in place of the cross entropy: takes `labels` (float32) and `logits`, and `features` and
            `loss_reduction` if it has such arguments; gives a loss for each example, `[D0, D1, ... DN, 1]`.
        name: a suffix of metrics and summaries, and the scope of ops.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, weight_column, loss_reduction, loss_fn)
        self._rate_curve, self._precision_curve = "ROC", "PR"
        where = described(self)
        self._thresholds = checked_thresholds(thresholds, where)
        self._vocabulary = checked_vocabulary(label_vocabulary, where)

    @property
    def logits_dimension(self) -> int:
        """1."""
        return 1

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """Logits, probabilities and classes; see `Head.predictions`."""
        with tf.name_scope("predictions"):
            logits = checked_logits(logits, 1, described(self))
            both = tf.concat([tf.zeros_like(logits), logits], axis=-1, name="two_class_logits")
            ids = tf.expand_dims(tf.argmax(both, axis=-1), -1)
            makers = {
                PredictionKeys.LOGITS: lambda: logits,
                PredictionKeys.LOGISTIC: lambda: tf.sigmoid(logits, name="logistic"),
                PredictionKeys.PROBABILITIES: lambda: tf.nn.softmax(both, name="probabilities"),
                PredictionKeys.CLASS_IDS: lambda: ids,
                PredictionKeys.CLASSES: lambda: class_names(ids, self._vocabulary),
                PredictionKeys.ALL_CLASS_IDS: lambda: all_class_ids(logits, 2),
                PredictionKeys.ALL_CLASSES: lambda: all_class_names(logits, 2, self._vocabulary),
            }
            return predicted(makers, keys, described(self))

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics; see `Head.metrics`."""
        key = self._summary_key
        with tf.name_scope("metrics"):
            metrics: dict[str, Any] = {
                key(MetricKeys.LOSS_MEAN): Mean(MetricKeys.LOSS_MEAN),
                key(MetricKeys.ACCURACY): Accuracy(MetricKeys.ACCURACY),
                key(MetricKeys.PRECISION): Precision(MetricKeys.PRECISION),
                key(MetricKeys.RECALL): Recall(MetricKeys.RECALL),
                key(MetricKeys.PREDICTION_MEAN): Mean(MetricKeys.PREDICTION_MEAN),
                key(MetricKeys.LABEL_MEAN): Mean(MetricKeys.LABEL_MEAN),
                key(MetricKeys.ACCURACY_BASELINE): Baseline(MetricKeys.ACCURACY_BASELINE),
                key(MetricKeys.AUC): AUC(MetricKeys.AUC, curve=self._rate_curve),
                key(MetricKeys.AUC_PR): AUC(MetricKeys.AUC_PR, curve=self._precision_curve),
            }
            metrics |= penalty_metric(key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
            return metrics | threshold_metrics(self._thresholds, key)

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
        predictions = self.predictions(batch.logits, [PredictionKeys.LOGISTIC, PredictionKeys.CLASS_IDS])
        logistic, ids = predictions[PredictionKeys.LOGISTIC], tf.cast(predictions[PredictionKeys.CLASS_IDS], tf.float32)

        updates = {
            MetricKeys.LOSS_MEAN: (batch.losses,),
            MetricKeys.ACCURACY: (labels, ids),
            MetricKeys.PRECISION: (labels, ids),
            MetricKeys.RECALL: (labels, ids),
            MetricKeys.PREDICTION_MEAN: (logistic,),
            MetricKeys.LABEL_MEAN: (labels,),
            MetricKeys.ACCURACY_BASELINE: (labels,),
            MetricKeys.AUC: (labels, logistic),
            MetricKeys.AUC_PR: (labels, logistic),
        }
        for name, values in updates.items():
            eval_metrics[key(name)].update_state(*values, sample_weight=weights)
        update_penalty_metric(eval_metrics, key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
        update_threshold_metrics(eval_metrics, self._thresholds, key, labels, logistic, weights)
        return eval_metrics

    def export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        """Scores of both classes, the probability of the second, and all predictions."""
        second = RegressionOutput(value=predictions[PredictionKeys.LOGISTIC])
        return classifying_outputs(predictions, 2, self._vocabulary, {REGRESS_SERVING_KEY: second})

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        return label_forms.binary(labels, logits, self._vocabulary, described(self))

    def _own_losses(self, labels: Any, logits: Any) -> Any:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
