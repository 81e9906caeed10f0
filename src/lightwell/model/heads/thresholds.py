"""Accuracy, precision and recall at thresholds of the probability: metrics that heads of yes and no share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lightwell.base.keys import MetricKeys
from lightwell.errors import UsageError, WrongType
from lightwell.model.heads.metrics import Accuracy, Precision, Recall

_AT_THRESHOLD: dict[str, Callable[[str, float], Any]] = {
    MetricKeys.ACCURACY_AT_THRESHOLD: Accuracy,
    MetricKeys.PRECISION_AT_THRESHOLD: Precision,
    MetricKeys.RECALL_AT_THRESHOLD: Recall,
}


def checked_thresholds(thresholds: Any, where: str) -> tuple[float, ...]:
    """Thresholds as a tuple.

    Raises:
        UsageError: one is not between 0 and 1.
        WrongType: they are no numbers.
    """
    if thresholds is None:
        return ()
    if isinstance(thresholds, str) or not hasattr(thresholds, "__iter__"):
        raise WrongType(
            f"{where}: thresholds must be a list of numbers ('{thresholds}' object is not iterable as one)."
        )
    values = tuple(thresholds)
    for threshold in values:
        if isinstance(threshold, str) or not hasattr(threshold, "__float__"):
            raise WrongType(f"{where}: thresholds must be numbers between 0 and 1, got {threshold!r}.")
        if not 0.0 < threshold < 1.0:
            raise UsageError(
                f"{where}: thresholds not in (0, 1): {values}: thresholds must be in (0, 1) range. Given: {threshold}. "
                "They are compared with probabilities."
            )
    return values


def threshold_metrics(thresholds: Iterable[float], key_of: Callable[[str], str]) -> dict[str, Any]:
    """New metrics for each threshold."""
    return {
        key_of(key % threshold): make(key_of(key % threshold), threshold)
        for threshold in thresholds
        for key, make in _AT_THRESHOLD.items()
    }


def update_threshold_metrics(
    metrics: dict[str, Any],
    thresholds: Iterable[float],
    key_of: Callable[[str], str],
    labels: Any,
    probabilities: Any,
    weights: Any,
) -> None:
    """Adds a batch to them."""
    for threshold in thresholds:
        for key in _AT_THRESHOLD:
            metrics[key_of(key % threshold)].update_state(labels, probabilities, sample_weight=weights)
