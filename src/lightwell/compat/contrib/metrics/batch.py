"""Functions of `tf.contrib.metrics` that keep no state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

v1 = tf.compat.v1


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Any:
    """The share of predictions that equal their labels, in one batch.

    Args:
        predictions: of any kind but floating numbers; of the labels' type.
        labels: likewise.
        weights: how much each counts.
        name: of the operation.

    Raises:
        UsageError: types or shapes do not fit.
    """
    given, truth = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
    if not (truth.dtype.is_integer or truth.dtype in (tf.bool, tf.string)):
        raise UsageError(f"accuracy: Labels should have bool, integer, or string dtype, not {truth.dtype}.")
    if truth.dtype != given.dtype:
        raise UsageError(
            "accuracy: Dtypes of predictions and labels should match. Given: predictions "
            f"({given.dtype}) and labels ({truth.dtype}). Cast one of them."
        )
    with v1.name_scope(name, "accuracy", [given, truth]):
        right = tf.cast(tf.equal(given, truth), tf.float32)
        if weights is None:
            return tf.reduce_mean(right)
        factor = tf.cast(weights, tf.float32)
        return tf.math.divide(tf.reduce_sum(right * factor), tf.reduce_sum(factor * tf.ones_like(right)))


def aggregate_metrics(*value_update_tuples: Any) -> tuple[Any, Any]:
    """The values of metrics, and their updates."""
    if not value_update_tuples:
        raise UsageError("aggregate_metrics: Expected at least one value_tensor/update_op pair.")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of metrics by their names, and their updates, by the same."""
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}
