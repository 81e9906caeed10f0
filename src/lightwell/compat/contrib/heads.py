"""The heads of `tf.contrib.estimator`: those of `canned.head`, with losses averaged over the batch.

head = tf.contrib.estimator.binary_classification_head(weight_column="weight")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lightwell.model.heads import v1_heads
from lightwell.model.heads.losses import LossFn
from lightwell.model.heads.multi import MultiHead
from lightwell.model.heads.regression import LogisticRegressionHead, PoissonRegressionHead

AVERAGE = "weighted_sum_over_batch_size"


def binary_classification_head(
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = AVERAGE,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> v1_heads.AdaptedHead:
    """A head of two classes."""
    return v1_heads.binary_head(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = AVERAGE,
    loss_fn: LossFn | None = None,
    name: str | None = None,
) -> v1_heads.AdaptedHead:
    """A head of more than two classes."""
    return v1_heads.multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Sequence[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = AVERAGE,
    loss_fn: LossFn | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> v1_heads.AdaptedHead:
    """A head of classes of which an example has any number."""
    return v1_heads.multi_label_head(
        n_classes,
        weight_column,
        thresholds,
        label_vocabulary,
        loss_reduction,
        loss_fn,
        classes_for_class_based_metrics,
        name,
    )


def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = AVERAGE,
    loss_fn: LossFn | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> v1_heads.AdaptedHead:
    """A head of numbers."""
    return v1_heads.regression_head(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = AVERAGE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> v1_heads.AdaptedHead:
    """A head of counts."""
    return v1_heads.AdaptedHead(
        PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)
    )


def logistic_regression_head(
    weight_column: Any = None, loss_reduction: str = AVERAGE, name: str | None = None
) -> v1_heads.AdaptedHead:
    """A head of probabilities."""
    return v1_heads.AdaptedHead(LogisticRegressionHead(weight_column, loss_reduction, name))


def multi_head(heads: Sequence[Any], head_weights: Sequence[float] | None = None) -> MultiHead:
    """Several heads in one."""
    return MultiHead([head._head if isinstance(head, v1_heads.AdaptedHead) else head for head in heads], head_weights)
