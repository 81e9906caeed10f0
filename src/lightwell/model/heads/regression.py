"""`RegressionHead` and its two kin: numbers per example. They differ in the loss and in the inverse link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import (
    DEFAULT_SERVING_SIGNATURE,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    MetricKeys,
    PredictionKeys,
)
from lightwell.errors import UsageError, WrongType
from lightwell.model.heads import labels as label_forms
from lightwell.model.heads.base import described
from lightwell.model.heads.check import require, whole_number
from lightwell.model.heads.classes import predicted
from lightwell.model.heads.losses import SUM_OVER_BATCH_SIZE, LossFn
from lightwell.model.heads.metrics import Mean
from lightwell.model.heads.one_task import OneTaskHead
from lightwell.model.heads.penalty import penalty_metric, update_penalty_metric
from lightwell.model.heads.shapes import checked_logits
from lightwell.model.outputs import ExportOutput, PredictOutput, RegressionOutput


class RegressionHead(OneTaskHead):
    """For numbers; the loss is the squared error.

    Logits and labels are `[D0, D1, ... DN, label_dimension]`, usually `[batch_size, label_dimension]`; labels of one
    number may leave the last dimension out. Weights are `[D0, D1, ... DN]`, `[D0, D1, ... DN, 1]`, or one for each
    number, `[D0, D1, ... DN, label_dimension]`.

    Args:
        label_dimension: how many numbers each example has.
        weight_column: the name of a feature, or a `tf.feature_column.numeric_column`, that holds the weights.
        loss_reduction: how the losses of a batch become one: `sum_over_batch_size` (divided by examples and numbers) or
            `sum`, of `tf.losses.Reduction`; or one of `tf.compat.v1.losses.Reduction`.
        loss_fn: in place of the squared error: takes `labels` and `logits`, and `features` and `loss_reduction` if it
            has such arguments; gives a loss for each number, `[D0, D1, ... DN, label_dimension]`.
        inverse_link_fn: makes predictions of logits; they are the logits themselves if None.
        name: a suffix of metrics and summaries, and the scope of ops.
    """

    _weighs_each_logit = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, weight_column, loss_reduction, loss_fn)
        where = described(self)
        self._logits_dimension = _checked_dimension(label_dimension, where)
        if inverse_link_fn is not None and not callable(inverse_link_fn):
            raise WrongType(f"{where}: inverse_link_fn must be a function of the logits, got {inverse_link_fn!r}.")
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """How many numbers each example has."""
        return self._logits_dimension

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """The numbers, and the logits where they are something else; see `Head.predictions`."""
        with tf.name_scope("predictions"):
            logits = checked_logits(logits, self._logits_dimension, described(self))
            makers: dict[str, Callable[[], Any]] = {PredictionKeys.PREDICTIONS: lambda: self._predicted_value(logits)}
            if self._inverse_link_fn is not None:
                makers[PredictionKeys.LOGITS] = lambda: logits
            return predicted(makers, keys, described(self))

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metrics; see `Head.metrics`."""
        key = self._summary_key
        with tf.name_scope("metrics"):
            means = (MetricKeys.LOSS_MEAN, MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN)
            metrics: dict[str, Any] = {key(name): Mean(name) for name in means}
            return metrics | penalty_metric(key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)

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
        values = {
            MetricKeys.LOSS_MEAN: batch.losses,
            MetricKeys.PREDICTION_MEAN: self._predicted_value(batch.logits),
            MetricKeys.LABEL_MEAN: batch.labels,
        }
        for name, value in values.items():
            eval_metrics[key(name)].update_state(value, sample_weight=batch.weights)
        update_penalty_metric(eval_metrics, key(MetricKeys.LOSS_REGULARIZATION), regularization_losses)
        return eval_metrics

    def export_outputs(self, predictions: dict[str, Any]) -> dict[str, ExportOutput]:
        """The numbers, and all predictions."""
        numbers = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SERVING_SIGNATURE: numbers,
            REGRESS_SERVING_KEY: numbers,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _predicted_value(self, logits: Any) -> Any:
        return logits if self._inverse_link_fn is None else self._inverse_link_fn(logits)

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        return label_forms.numbers(labels, logits, self._logits_dimension, described(self))

    def _own_losses(self, labels: Any, logits: Any) -> Any:
        return tf.math.squared_difference(logits, labels)


class PoissonRegressionHead(RegressionHead):
    """For counts; the loss is that of a Poisson distribution whose rate is `exp(logits)`, which is predicted.

    Args:
        label_dimension: how many counts each example has.
        weight_column: as in `RegressionHead`.
        loss_reduction: as in `RegressionHead`.
        compute_full_loss: whether the loss has the term `log(label!)`, which does not depend on the logits.
        name: a suffix of metrics and summaries, and the scope of ops.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        def poisson_loss(labels: Any, logits: Any) -> Any:
            return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, poisson_loss, tf.exp, name)


class LogisticRegressionHead(RegressionHead):
    """For numbers from 0 to 1; the loss is the sigmoid cross entropy, and `sigmoid(logits)` is predicted.

    `BinaryClassHead` has the same loss; this one has the predictions, metrics and signatures of a regression.

    Args:
        weight_column: as in `RegressionHead`.
        loss_reduction: as in `RegressionHead`.
        name: a suffix of metrics and summaries, and the scope of ops.
    """

    def __init__(
        self, weight_column: Any = None, loss_reduction: str = SUM_OVER_BATCH_SIZE, name: str | None = None
    ) -> None:
        def logistic_loss(labels: Any, logits: Any) -> Any:
            text = f"{described(self)}: Labels must be in range [0, 1]. Scale them in input_fn."
            labels = require(labels, lambda value: (value >= 0.0) & (value <= 1.0), text)
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        super().__init__(1, weight_column, loss_reduction, logistic_loss, tf.sigmoid, name)


def _checked_dimension(label_dimension: Any, where: str) -> int:
    if whole_number(label_dimension, "label_dimension", where) < 1:
        raise UsageError(f"{where}: Invalid label_dimension {label_dimension}. Each example has one number or more.")
    return int(label_dimension)
