"""`tf.contrib.metrics.streaming_*`: the metrics of `tf.compat.v1.metrics`, with their arguments in the old order.

Owns the table; each function is built from its row when the module is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

_metrics = tf.compat.v1.metrics
_PAIR = "predictions labels {} weights=None {} metrics_collections=None updates_collections=None {} name=None"
_PLAIN = _PAIR.format("", "", "")
_ONE = "values {} weights=None metrics_collections=None updates_collections=None name=None"
_AT_THRESHOLDS = _PAIR.format("thresholds", "", "")
_COUNTS = "predictions labels thresholds weights=None"
_AT_K = "predictions labels k class_id=None weights=None metrics_collections=None updates_collections=None name=None"
_TOP_K = (
    "top_k_predictions labels class_id=None weights=None metrics_collections=None updates_collections=None name=None"
)
_SHARE = _PAIR.format("{}", "num_thresholds=200", "")
# Name after `streaming_` -> the name in tf.compat.v1.metrics, the arguments in their old order.
_TABLE: dict[str, tuple[str, str]] = {
    "accuracy": ("accuracy", _PLAIN),
    "auc": ("auc", _PAIR.format("", "num_thresholds=200", "curve=ROC")),
    "false_negatives": ("false_negatives", _PLAIN),
    "false_negatives_at_thresholds": ("false_negatives_at_thresholds", _COUNTS),
    "false_positives": ("false_positives", _PLAIN),
    "false_positives_at_thresholds": ("false_positives_at_thresholds", _COUNTS),
    "mean": ("mean", _ONE.format("")),
    "mean_absolute_error": ("mean_absolute_error", _PLAIN),
    "mean_cosine_distance": ("mean_cosine_distance", _PAIR.format("dim", "", "")),
    "mean_iou": ("mean_iou", _PAIR.format("num_classes", "", "")),
    "mean_relative_error": ("mean_relative_error", _PAIR.format("normalizer", "", "")),
    "mean_squared_error": ("mean_squared_error", _PLAIN),
    "mean_tensor": ("mean_tensor", _ONE.format("")),
    "percentage_less": ("percentage_below", _ONE.format("threshold")),
    "precision": ("precision", _PLAIN),
    "precision_at_thresholds": ("precision_at_thresholds", _AT_THRESHOLDS),
    "recall": ("recall", _PLAIN),
    "recall_at_thresholds": ("recall_at_thresholds", _AT_THRESHOLDS),
    "root_mean_squared_error": ("root_mean_squared_error", _PLAIN),
    "sensitivity_at_specificity": ("sensitivity_at_specificity", _SHARE.format("specificity")),
    "sparse_average_precision_at_k": ("average_precision_at_k", _PAIR.format("k", "", "")),
    "sparse_precision_at_k": ("precision_at_k", _AT_K),
    "sparse_precision_at_top_k": ("precision_at_top_k", _TOP_K),
    "sparse_recall_at_k": ("recall_at_k", _AT_K),
    "specificity_at_sensitivity": ("specificity_at_sensitivity", _SHARE.format("sensitivity")),
    "true_negatives": ("true_negatives", _PLAIN),
    "true_negatives_at_thresholds": ("true_negatives_at_thresholds", _COUNTS),
    "true_positives": ("true_positives", _PLAIN),
    "true_positives_at_thresholds": ("true_positives_at_thresholds", _COUNTS),
}
_DEFAULTS: dict[str, Any] = {"None": None, "200": 200, "ROC": "ROC"}
_NAMES_NOW = {"top_k_predictions": "predictions_idx"}


def _made(name: str, target: str, arguments: str) -> Callable[..., Any]:
    parameters = []
    for argument in arguments.split():
        word, _, default = argument.partition("=")
        value = _DEFAULTS[default] if default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(word, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    shown = inspect.Signature(parameters)
    metric = getattr(_metrics, target)

    def streaming(*args: Any, **kwargs: Any) -> Any:
        given = shown.bind(*args, **kwargs).arguments
        return metric(**{_NAMES_NOW.get(word, word): value for word, value in given.items()})

    streaming.__name__ = streaming.__qualname__ = f"streaming_{name}"
    streaming.__doc__ = f"`tf.compat.v1.metrics.{target}`, with its arguments in the order of `tf.contrib.metrics`."
    streaming.__signature__ = shown  # type: ignore[attr-defined]
    return streaming


globals().update({f"streaming_{name}": _made(name, *row) for name, row in _TABLE.items()})


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """How often the right class is among the `k` of the highest predictions."""
    among = tf.cast(tf.math.in_top_k(tf.convert_to_tensor(labels), predictions, k), tf.float32)
    return _metrics.mean(among, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")
