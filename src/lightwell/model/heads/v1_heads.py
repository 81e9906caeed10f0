"""The heads of TensorFlow 1: `_Head`, from which packages derive their own, and those of `canned.head`, over ours.

They differ from the heads of `tf.estimator` in three things: they have `create_loss`, losses are summed up unless said
otherwise, and a training step runs the updates in `GraphKeys.UPDATE_OPS` and shows the average loss, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import tensorflow as tf

from lightwell.base.keys import MetricKeys, ModeKeys
from lightwell.model.heads.base import described, suffixed
from lightwell.model.heads.binary import BinaryClassHead
from lightwell.model.heads.losses import LossFn, loss_to_train, reduced
from lightwell.model.heads.metrics import OLD_RATES, TRAPEZOIDS
from lightwell.model.heads.multi_class import MultiClassHead
from lightwell.model.heads.multi_label import MultiLabelHead
from lightwell.model.heads.penalty import regularized
from lightwell.model.heads.regression import RegressionHead
from lightwell.model.heads.training import train_op_of, write_summaries
from lightwell.model.interop.keras_scope import is_keras_optimizer
from lightwell.model.spec import EstimatorSpec

_v1 = tf.compat.v1
SUM = "weighted_sum"


class LossSpec(NamedTuple):
    """What `create_loss` of a head returns."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


class V1Head:
    """Base of heads: derive from it and write all four members."""

    @property
    def name(self) -> str | None:
        """The head's name, for the names of its metrics."""
        return _missing(self, "name")

    @property
    def logits_dimension(self) -> int:
        """How many logits the head needs per example."""
        return _missing(self, "logits_dimension")

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> Any:
        """The loss of a batch."""
        return _missing(self, "create_loss")

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The `EstimatorSpec` of a model with this head."""
        return _missing(self, "create_estimator_spec")


class AdaptedHead(V1Head):
    """One of our heads as TensorFlow 1 knew it.

    Args:
        head: a `BinaryClassHead`, `MultiClassHead`, `MultiLabelHead` or `RegressionHead`.
    """

    def __init__(self, head: BinaryClassHead | MultiClassHead | MultiLabelHead | RegressionHead) -> None:
        self._head = head

    @property
    def name(self) -> str | None:
        """The head's name, for the names of its metrics."""
        return self._head.name

    @property
    def logits_dimension(self) -> int:
        """How many logits the head needs per example."""
        return self._head.logits_dimension

    def create_loss(self, features: Any, mode: str, logits: Any, labels: Any) -> LossSpec:
        """The loss of a batch, without regularisation, and its parts."""
        head = self._head
        batch = head.weighed(labels, logits, features)
        loss = loss_to_train(batch.losses, batch.weights, head.loss_reduction)
        return LossSpec(loss, batch.losses, batch.weights, batch.labels)

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The `EstimatorSpec` of a model with this head; the arguments are those of `Head.create_estimator_spec`."""
        head = self._head
        if mode != ModeKeys.TRAIN:
            return head.create_estimator_spec(
                features, mode, logits, labels, regularization_losses=regularization_losses
            )
        with tf.name_scope(head.name or "head") as scope:
            predictions = head.predictions(logits)
            loss_spec = self.create_loss(features, mode, logits, labels)
            loss = regularized(loss_spec.training_loss, regularization_losses)
            shown = {}
            if head.loss_reduction == SUM:  # other losses are an average themselves
                shown[MetricKeys.LOSS_MEAN] = reduced(loss_spec.unreduced_loss, loss_spec.weights, "weighted_mean")
        train_op = train_op_of(
            loss,
            described(head),
            optimizer=optimizer,
            trainable_variables=_v1.trainable_variables() if is_keras_optimizer(optimizer) else None,
            train_op_fn=train_op_fn,
            update_ops=_v1.get_collection(_v1.GraphKeys.UPDATE_OPS),
            scope=scope,
        )
        write_summaries(loss, regularization_losses, head._summary_key, **shown)
        return EstimatorSpec(mode, predictions, loss, train_op)


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = SUM,
    loss_fn: LossFn | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> AdaptedHead:
    """A `RegressionHead` of TensorFlow 1."""
    return AdaptedHead(RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name))


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = SUM,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> AdaptedHead:
    """A `MultiClassHead` of TensorFlow 1."""
    return AdaptedHead(MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name))


def binary_head(
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = SUM,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> AdaptedHead:
    """A `BinaryClassHead` of TensorFlow 1."""
    head = BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)
    head._rate_curve, head._precision_curve = OLD_RATES, TRAPEZOIDS
    return AdaptedHead(head)


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = SUM,
    loss_fn: LossFn | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> AdaptedHead:
    """A `MultiLabelHead` of TensorFlow 1, which predicts no names of classes."""
    head = MultiLabelHead(
        n_classes,
        weight_column,
        thresholds,
        label_vocabulary,
        loss_reduction,
        loss_fn,
        classes_for_class_based_metrics,
        name,
    )
    head._rate_curve, head._precision_curve = OLD_RATES, TRAPEZOIDS
    head._predicts_names = False
    return AdaptedHead(head)


def binary_or_multi_class_head(
    n_classes: int, weight_column: Any, label_vocabulary: Sequence[str] | None, loss_reduction: str
) -> AdaptedHead:
    """The head of a classifier of TensorFlow 1."""
    if n_classes == 2:
        return binary_head(weight_column, None, label_vocabulary, loss_reduction)
    return multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)


def summary_key(head_name: str | None, key: str) -> str:
    """The name of a head's metric: `loss/my_head`."""
    return suffixed(key, head_name)


def _missing(head: V1Head, member: str) -> NoReturn:
    raise NotImplementedError(
        f"{type(head).__name__} is a head without `{member}`: its base class leaves that to it. Write it in "
        f"{type(head).__name__}."
    )
