"""The losses of `tf.contrib.losses`, over those of `tf.compat.v1.losses`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

v1 = tf.compat.v1
_KEYS = v1.GraphKeys


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of losses, each times its weight, over those whose weight is not zero; it goes to `GraphKeys.LOSSES`.

    Args:
        losses: a tensor.
        weights: a number; or a tensor of as many axes as the losses, or fewer: those that it lacks, in the end, share a
            weight.
        scope: the name scope.
    """
    with v1.name_scope(scope, "weighted_loss", [losses, weights]):
        return _weighted(tf.convert_to_tensor(losses), weights)


def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of absolute differences."""
    return _compared("absolute_difference", predictions, labels, weights, scope, lambda a, b: tf.abs(a - b))


def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean of squared differences."""
    return _compared("mean_squared_error", predictions, labels, weights, scope, tf.math.squared_difference)


def log_loss(
    predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None
) -> Any:
    """The mean log loss of probabilities."""

    def each(shares: Any, truth: Any) -> Any:
        return -truth * tf.math.log(shares + epsilon) - (1 - truth) * tf.math.log(1 - shares + epsilon)

    return _compared("log_loss", predictions, labels, weights, scope, each)


def sigmoid_cross_entropy(
    logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Any:
    """The mean cross entropy of classes that exclude no other.

    Args:
        logits: `[batch, classes]`.
        multi_class_labels: 0 or 1 for each class of each example.
        weights: as in `compute_weighted_loss`.
        label_smoothing: how far labels are drawn towards a half.
        scope: the name scope.
    """

    def each(given: Any, truth: Any) -> Any:
        if label_smoothing > 0:
            truth = truth * (1 - label_smoothing) + 0.5 * label_smoothing
        return tf.nn.sigmoid_cross_entropy_with_logits(logits=given, labels=truth)

    name = "sigmoid_cross_entropy_loss"
    return _compared(name, logits, multi_class_labels, weights, scope, each, like_predictions=True)


def softmax_cross_entropy(
    logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Any:
    """The mean cross entropy of classes of which one is right; see `sigmoid_cross_entropy`."""

    def each(given: Any, truth: Any) -> Any:
        if label_smoothing > 0:
            classes = tf.cast(tf.shape(truth)[1], given.dtype)
            truth = truth * (1.0 - label_smoothing) + label_smoothing / classes
        return tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(truth), logits=given)

    name = "softmax_cross_entropy_loss"
    return _compared(name, logits, onehot_labels, weights, scope, each, like_predictions=True)


def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """The mean cross entropy of exclusive classes; a label is a class number."""
    with v1.name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]):
        numbers, given = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
        if numbers.shape.rank is not None and numbers.shape.rank == given.shape.rank:
            numbers = tf.reshape(numbers, [-1])
        return _weighted(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=numbers, logits=given), weights)


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """The hinge loss of each logit, not reduced; labels are 0 or 1."""
    with v1.name_scope(scope, "hinge_loss", [logits, labels]):
        given, truth = _alike(logits, labels)
        return tf.nn.relu(1.0 - (2.0 * truth - 1.0) * given)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Any:
    """How far differences between pairs of predictions are from those of their labels, summed over the batch.

    Args:
        predictions: `[batch, ...]`.
        labels: likewise.
        weights: a number, or one per example.
        scope: the name scope.
    """
    with v1.name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        given, truth = _alike(predictions, labels)
        off = tf.reshape(given - truth, [tf.shape(given)[0], -1])
        factor = tf.cast(tf.convert_to_tensor(weights), off.dtype)
        if factor.shape.rank not in (0, 1):
            factor = tf.reshape(factor, [-1])
        counts = tf.where(tf.not_equal(factor, 0), tf.cast(tf.shape(off)[1], off.dtype), tf.zeros_like(factor))
        squares = tf.reduce_sum(tf.square(off), 1)
        both = tf.square(tf.reduce_sum(off, 1))
        each = 2.0 * tf.math.divide_no_nan(squares, counts) - 2.0 * tf.math.divide_no_nan(both, tf.square(counts))
        loss = tf.reduce_sum(each * factor, name="value")
        add_loss(loss)
        return loss


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Any:
    """The mean of one minus the product of unit vectors.

    Args:
        predictions: unit vectors.
        labels: unit vectors.
        axis: along which they stand.
        weights: as in `compute_weighted_loss`.
        scope: the name scope.
        dim: `axis` by its older name.

    Raises:
        UsageError: there is no axis.
    """
    along = dim if axis is None else axis
    if along is None:
        raise UsageError("cosine_distance: You must specify 'axis'.")
    name = "cosine_distance_loss"
    return _compared(name, predictions, labels, weights, scope, lambda a, b: 1 - tf.reduce_sum(a * b, along))


def add_loss(loss: Any, loss_collection: str | None = _KEYS.LOSSES) -> None:
    """Puts a loss into a collection."""
    if loss_collection:
        v1.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = _KEYS.LOSSES) -> list[Any]:
    """The losses of a collection, in a scope."""
    found: list[Any] = v1.get_collection(loss_collection, scope)
    return found


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of `GraphKeys.REGULARIZATION_LOSSES`, in a scope."""
    found: list[Any] = v1.get_collection(_KEYS.REGULARIZATION_LOSSES, scope)
    return found


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss") -> Any:
    """The sum of all losses, by default with those of regularizers."""
    losses = get_losses() + (get_regularization_losses() if add_regularization_losses else [])
    return tf.add_n(losses, name=name)


def _compared(
    name: str,
    predictions: Any,
    labels: Any,
    weights: Any,
    scope: str | None,
    each: Callable[[Any, Any], Any],
    *,
    like_predictions: bool = False,
) -> Any:
    with v1.name_scope(scope, name, [predictions, labels, weights]):
        given, truth = _alike(predictions, labels, like_predictions=like_predictions)
        return _weighted(each(given, truth), weights)


def _alike(predictions: Any, labels: Any, *, like_predictions: bool = False) -> tuple[Any, Any]:
    given, truth = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
    dtype = given.dtype if like_predictions else tf.float32
    given, truth = tf.cast(given, dtype), tf.cast(truth, dtype)
    if not given.shape.is_compatible_with(truth.shape):
        raise UsageError(
            f"Shapes {given.shape} of the predictions and {truth.shape} of the labels are incompatible; they must be "
            "the same."
        )
    return given, truth


def _weighted(losses: Any, weights: Any) -> Any:
    factor = tf.cast(tf.convert_to_tensor(weights), tf.float32)
    rank = factor.shape.rank
    if rank is None or losses.shape.rank is None:
        raise UsageError("compute_weighted_loss: the ranks of losses and weights must be known.")
    if rank > losses.shape.rank:
        extra = factor.shape.as_list()[losses.shape.rank :]
        if any(size != 1 for size in extra):
            raise UsageError(
                f"compute_weighted_loss: weights of shape {factor.shape} do not fit losses of shape {losses.shape}."
            )
        factor = tf.reshape(factor, tf.shape(factor)[: losses.shape.rank])
    elif rank:
        for _ in range(losses.shape.rank - rank):
            factor = tf.expand_dims(factor, -1)
    every = tf.cast(losses, tf.float32)
    present = tf.reduce_sum(tf.cast(tf.not_equal(tf.broadcast_to(factor, tf.shape(every)), 0), tf.float32))
    mean = tf.math.divide_no_nan(tf.reduce_sum(every * factor), present)
    loss = tf.cast(mean, losses.dtype) if losses.dtype != tf.float32 else mean
    loss = tf.identity(loss, name="value")
    add_loss(loss)
    return loss
