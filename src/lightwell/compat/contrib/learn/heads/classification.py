"""Heads of classes of which one is right: `multi_class_head`, and `binary_svm_head` with a margin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.learn.estimators.constants import PredictionKey, ProblemType
from lightwell.compat.contrib.learn.heads.base import Head, SingleHead, column
from lightwell.compat.contrib.learn.heads.metrics import accuracy_of, metrics_of_classes, metrics_of_two_classes
from lightwell.errors import UsageError

_v1 = tf.compat.v1


class BinaryHead(SingleHead):
    """Two classes and one logit."""

    default_name = "binary_logistic_head"

    def __init__(
        self,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
        thresholds: Sequence[float] | None,
        loss_fn: Callable[..., Any] | None,
        label_keys: Sequence[str] | None,
    ) -> None:
        super().__init__(
            ProblemType.LOGISTIC_REGRESSION, 1, label_name, weight_column_name, enable_centered_bias, head_name
        )
        self._thresholds = tuple(thresholds or (0.5,))
        self._loss_fn = loss_fn
        self._label_keys = label_keys

    def losses(self, logits: Any, labels: Any) -> Any:
        truth = tf.cast(labels, logits.dtype)
        if self._loss_fn is not None:
            return self._loss_fn(truth, logits)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits)

    def predictions(self, logits: Any) -> dict[str, Any]:
        both = tf.concat([tf.zeros_like(logits), logits], 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: tf.sigmoid(logits),
            PredictionKey.PROBABILITIES: tf.nn.softmax(both),
            PredictionKey.CLASSES: _words(tf.argmax(both, 1), self._label_keys),
        }

    def metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        classes = tf.argmax(predictions[PredictionKey.PROBABILITIES], 1)
        logistic = predictions[PredictionKey.LOGISTIC]
        return metrics_of_two_classes(classes, logistic, labels, weights, self._thresholds)

    def served(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        return _served(predictions)

    def _processed(self, labels: Any) -> Any:
        return _numbers(column(labels), self._label_keys)


class MultiClassHead(SingleHead):
    """More than two classes, with a logit each."""

    default_name = "multi_class_head"

    def __init__(
        self,
        n_classes: int,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
        metric_class_ids: Sequence[int] | None,
        loss_fn: Callable[..., Any] | None,
        label_keys: Sequence[str] | None,
    ) -> None:
        super().__init__(
            ProblemType.CLASSIFICATION, n_classes, label_name, weight_column_name, enable_centered_bias, head_name
        )
        self._class_ids = tuple(metric_class_ids or ())
        if not all(0 <= one < n_classes for one in self._class_ids):
            raise UsageError(f"multi_class_head: metric_class_ids must be in [0, {n_classes}), got {metric_class_ids}.")
        self._loss_fn = loss_fn
        self._label_keys = label_keys

    def losses(self, logits: Any, labels: Any) -> Any:
        if self._loss_fn is not None:
            return self._loss_fn(labels, logits)
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(labels, [-1]), logits=logits)

    def predictions(self, logits: Any) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.nn.softmax(logits),
            PredictionKey.CLASSES: _words(tf.argmax(logits, 1), self._label_keys),
        }

    def metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        logits, probabilities = predictions[PredictionKey.LOGITS], predictions[PredictionKey.PROBABILITIES]
        classes, size = tf.argmax(logits, 1), self.logits_dimension
        said, truth = tf.one_hot(classes, size), tf.one_hot(tf.reshape(labels, [-1]), size)
        made = {"accuracy": accuracy_of(classes, labels, weights)}
        return made | metrics_of_classes(self._class_ids, logits, probabilities, said, truth, weights, areas=False)

    def served(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        return _served(predictions)

    def _processed(self, labels: Any) -> Any:
        return _numbers(column(labels), self._label_keys)


class SvmHead(SingleHead):
    """Two classes, with the hinge loss."""

    default_name = "binary_svm_head"

    def losses(self, logits: Any, labels: Any) -> Any:
        signs = 2.0 * tf.cast(labels, tf.float32) - 1.0
        return tf.nn.relu(1.0 - signs * logits)

    def predictions(self, logits: Any) -> dict[str, Any]:
        both = tf.concat([tf.zeros_like(logits), logits], 1)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: tf.argmax(both, 1)}

    def metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        return {"accuracy": accuracy_of(predictions[PredictionKey.CLASSES], labels, weights)}

    def _processed(self, labels: Any) -> Any:
        return column(labels)


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """A head of classes; see `SingleHead` for the other arguments.

    Args:
        n_classes: how many.
        label_name: the key of the labels.
        weight_column_name: the feature with weights.
        enable_centered_bias: whether the bias of the logits learns by a step of its own.
        head_name: for the names of its metrics.
        thresholds: of two classes, for which metrics are computed; 0.5 if None.
        metric_class_ids: of more than two classes, those with metrics of their own.
        loss_fn: `(labels, logits) -> losses`, in place of the cross entropy.
        label_keys: words of the classes, where labels are words.
    """
    if n_classes < 2:
        raise UsageError(f"multi_class_head: n_classes must be > 1 for classification: {n_classes}.")
    if n_classes == 2:
        if metric_class_ids:
            raise UsageError("multi_class_head: metric_class_ids invalid for n_classes==2.")
        return BinaryHead(
            label_name, weight_column_name, enable_centered_bias, head_name, thresholds, loss_fn, label_keys
        )
    return MultiClassHead(
        n_classes,
        label_name,
        weight_column_name,
        enable_centered_bias,
        head_name,
        metric_class_ids,
        loss_fn,
        label_keys,
    )


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """A head of two classes with a margin between them; `thresholds` has no effect."""
    del thresholds
    return SvmHead(ProblemType.LOGISTIC_REGRESSION, 1, label_name, weight_column_name, enable_centered_bias, head_name)


def _numbers(labels: Any, words: Sequence[str] | None) -> Any:
    if not words:
        return labels
    if labels.dtype != tf.string:
        raise UsageError(f"Labels must be strings where label_keys are set, got {labels.dtype}.")
    initializer = tf.lookup.KeyValueTensorInitializer(tf.constant(list(words)), tf.range(len(words), dtype=tf.int64))
    return tf.lookup.StaticHashTable(initializer, -1).lookup(labels)


def _words(numbers: Any, words: Sequence[str] | None) -> Any:
    return numbers if not words else tf.gather(tf.constant(list(words)), numbers)


def _served(predictions: Mapping[str, Any]) -> dict[str, Any]:
    """Predictions with classes as words, as signatures of classification have them."""
    classes = predictions[PredictionKey.CLASSES]
    return {
        **predictions,
        PredictionKey.CLASSES: classes if classes.dtype == tf.string else tf.as_string(classes, name="str_classes"),
    }
