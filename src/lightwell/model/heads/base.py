"""`Head`, from which all heads derive: the top of a model, with its loss, predictions, metrics and signatures.

Owns the interface, and how a spec is made of a head's parts (`create_estimator_spec`).
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, PREDICT_SERVING_KEY, ModeKeys
from lightwell.errors import ModelFnError
from lightwell.model.heads.training import train_op_of, write_summaries
from lightwell.model.outputs import ExportOutput, PredictOutput
from lightwell.model.spec import EstimatorSpec


class Head(abc.ABC):
    """The top of a model: makes loss, predictions, metrics and signatures out of logits.

    A `model_fn` computes logits, and its head does the rest:

        def model_fn(features, labels, mode):
            head = lw.BinaryClassHead()
            logits = lw.layers.dense(features["x"], head.logits_dimension)
            return head.create_estimator_spec(
                features, mode, logits, labels, optimizer=tf.compat.v1.train.AdamOptimizer(1e-3))

    To write one of your own, derive from `Head` and write the seven members below that are abstract;
    `create_estimator_spec` then works by itself, in all modes. Outside of an Estimator, `loss`, `predictions`,
    `metrics` and `update_metrics` work on plain tensors, too.

        class Quantile(lw.Head):
            name, logits_dimension, loss_reduction = "p90", 1, "sum_over_batch_size"

            def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
                error = labels - logits
                loss = tf.reduce_mean(tf.maximum(0.9 * error, -0.1 * error))
                return loss + tf.add_n(regularization_losses or [0.0])

            def predictions(self, logits, keys=None):
                return {"p90": logits}

            def metrics(self, regularization_losses=None):
                return {"coverage": tf.keras.metrics.Mean()}

            def update_metrics(self, eval_metrics, features, logits, labels, mode=None, regularization_losses=None):
                eval_metrics["coverage"].update_state(labels <= logits)
                return eval_metrics

    What servers get of it is `export_outputs(predictions)`: all predictions, unless you write that, too.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The head's name: a suffix of its metrics and summaries, and the scope of its ops."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dimension of the logits that the head needs."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses of a batch become one number."""

    @abc.abstractmethod
    def loss(
        self, labels: Any, logits: Any, features: Any = None, mode: Any = None, regularization_losses: Any = None
    ) -> Any:
        """The loss of a batch as a scalar, with the regularisation losses added.

        Args:
            labels: the labels, or a dict of them by name.
            logits: the logits.
            features: the batch's features, for a head that weighs examples by one of them.
            mode: a `ModeKeys` value.
            regularization_losses: a list of scalars to add.
        """

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """The predictions by name.

        Args:
            logits: the logits.
            keys: which ones; all that the head knows if None.
        """

    @abc.abstractmethod
    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """New metric objects by name: Keras metrics, or what has their methods.

        Args:
            regularization_losses: given if there are any; they are a metric then.
        """

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds a batch to the metrics, and returns them.

        Args:
            eval_metrics: what `metrics` gave.
            features: the batch's features.
            logits: the logits.
            labels: the labels.
            mode: a `ModeKeys` value; a head that does not need it may leave it out of its signature.
            regularization_losses: a list of scalars.
        """

    def export_outputs(self, predictions: dict[Any, Any]) -> dict[str, ExportOutput]:
        """How servers see the predictions: an `ExportOutput` for each signature.

        Args:
            predictions: what `predictions` gave.
        """
        output = PredictOutput(predictions)
        return {DEFAULT_SERVING_SIGNATURE: output, PREDICT_SERVING_KEY: output}

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """What a `model_fn` returns.

        Args:
            features: the batch's features.
            mode: a `ModeKeys` value.
            logits: the logits.
            labels: the labels; not needed in prediction.
            optimizer: in training, an optimizer of Keras, `tf_keras` or `tf.compat.v1.train`.
            trainable_variables: what the optimizer trains. One of Keras has to be told.
            train_op_fn: in place of `optimizer`: a function that takes the loss and gives the op of a step.
            update_ops: ops that run with each training step, such as updates of moving statistics.
            regularization_losses: a list of scalars that are added to the loss.
        """
        where = described(self)
        _check_mode(mode, where)
        with tf.name_scope(self.name or "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self.export_outputs(predictions))
            loss = self.loss(labels, logits, features=features, mode=mode, regularization_losses=regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = updated_metrics(self, features, logits, labels, regularization_losses)
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        train_op = train_op_of(
            loss,
            where,
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
        )
        write_summaries(loss, regularization_losses, self._summary_key)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _summary_key(self, key: str) -> str:
        """The name of a metric or summary in this head."""
        return suffixed(key, self.name)


def updated_metrics(
    head: Head, features: Any, logits: Any, labels: Any, regularization_losses: Any
) -> Mapping[str, Any]:
    """A head's metrics, with the batch added."""
    metrics = head.metrics(regularization_losses=regularization_losses)
    return head.update_metrics(
        metrics, features=features, logits=logits, labels=labels, regularization_losses=regularization_losses
    )


def suffixed(key: str, name: str | None) -> str:
    """The name of a head's metric: `accuracy/my_head`."""
    return f"{key}/{name}" if name else key


def described(head: Head) -> str:
    """How messages name a head: `BinaryClassHead`, or `BinaryClassHead 'click'`."""
    return f"{type(head).__name__} {head.name!r}" if head.name else type(head).__name__


def _check_mode(mode: Any, where: str) -> None:
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
        raise ModelFnError(f"{where}: mode must be one of ModeKeys, got {mode!r}. Pass the mode that model_fn gets.")
