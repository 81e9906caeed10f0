"""`RegressionHead` and its two kin: numbers per example. They differ in the loss and in the inverse link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.heads import labels as label_forms
from lightwell.heads.base import Head, described
from lightwell.heads.check import require
from lightwell.heads.classes import predicted
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
from lightwell.heads.metrics import Mean
from lightwell.heads.shapes import checked_logits, weights_of
from lightwell.keys import (
    DEFAULT_SERVING_SIGNATURE,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    MetricKeys,
    PredictionKeys,
)
from lightwell.outputs import ExportOutput, PredictOutput, RegressionOutput


class RegressionHead(Head):
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

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: LossFn | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        self._name = name
        where = described(self)
        self._logits_dimension = _checked_dimension(label_dimension, where)
        self._weight_column = weight_column
        self._loss_reduction = checked_reduction(loss_reduction, where)
        self._loss_fn = checked_loss_fn(loss_fn, where)
        if inverse_link_fn is not None and not callable(inverse_link_fn):
            raise WrongType(f"{where}: inverse_link_fn must be a function of the logits, got {inverse_link_fn!r}.")
        self._inverse_link_fn = inverse_link_fn

    @property
    def name(self) -> str | None:
        """The head's name."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """How many numbers each example has."""
        return self._logits_dimension

    @property
    def loss_reduction(self) -> str:
        """How the losses of a batch become one."""
        return self._loss_reduction

    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The loss of a batch; see `Head.loss`."""
        with tf.name_scope("losses"):
            logits = checked_logits(logits, self._logits_dimension, described(self))
            losses, weights = self._unweighted_loss_and_weights(
                logits, self._processed_labels(logits, labels), features
            )
            return regularized(reduced(losses, weights, self._loss_reduction), regularization_losses)

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
        names = [MetricKeys.LOSS_MEAN, MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN]
        if regularization_losses is not None:
            names.append(MetricKeys.LOSS_REGULARIZATION)
        with tf.name_scope("metrics"):
            return {self._summary_key(name): Mean(name) for name in names}

    def update_metrics(  # type: ignore[override]  # heads of tf.estimator leave out `mode`
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics; see `Head.update_metrics`."""
        logits = checked_logits(logits, self._logits_dimension, described(self))
        labels = self._processed_labels(logits, labels)
        losses, weights = self._unweighted_loss_and_weights(logits, labels, features)
        values = {
            MetricKeys.LOSS_MEAN: losses,
            MetricKeys.PREDICTION_MEAN: self._predicted_value(logits),
            MetricKeys.LABEL_MEAN: labels,
        }
        for key, value in values.items():
            eval_metrics[self._summary_key(key)].update_state(value, sample_weight=weights)
        if regularization_losses is not None:
            penalty = total_penalty(regularization_losses)
            eval_metrics[self._summary_key(MetricKeys.LOSS_REGULARIZATION)].update_state(penalty)
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

    def _unweighted_loss_and_weights(self, logits: Any, labels: Any, features: Any) -> tuple[Any, Any]:
        where, dimension = described(self), self._logits_dimension
        if self._loss_fn is None:
            losses = tf.math.squared_difference(logits, labels)
        else:
            losses = losses_from(self._loss_fn, labels, logits, features, self._loss_reduction, dimension, where)
        return losses, weights_of(features, self._weight_column, logits, where, per_logit=True)


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
            labels = require(labels, lambda given: (given >= 0.0) & (given <= 1.0), text)
            return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        super().__init__(1, weight_column, loss_reduction, logistic_loss, tf.sigmoid, name)


def _checked_dimension(label_dimension: Any, where: str) -> int:
    if isinstance(label_dimension, str) or not hasattr(label_dimension, "__index__"):
        raise WrongType(f"{where}: label_dimension must be a whole number, got {label_dimension!r}.")
    if label_dimension < 1:
        raise UsageError(f"{where}: Invalid label_dimension {label_dimension}. Each example has one number or more.")
    return int(label_dimension)
