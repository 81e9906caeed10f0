"""`tf.contrib.learn.MetricSpec`: a metric, and which of the predictions and labels it is of."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from lightwell.errors import UsageError, WrongType


class MetricSpec:
    """A metric function with the keys of what it compares.

    Args:
        metric_fn: takes predictions and labels (and weights), as functions of `tf.metrics` and `tf.contrib.metrics` do.
        prediction_key: which prediction, where there are several.
        label_key: which label, where there are several.
        weight_key: which feature holds the weights.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        if not callable(metric_fn):
            raise WrongType(f"MetricSpec: metric_fn must be callable, got {metric_fn!r}.")
        self.metric_fn = metric_fn
        self.prediction_key = prediction_key
        self.label_key = label_key
        self.weight_key = weight_key

    def __str__(self) -> str:
        name = getattr(self.metric_fn, "__name__", repr(self.metric_fn))
        keys = ", ".join(f"{key}={getattr(self, key)}" for key in ("prediction_key", "label_key", "weight_key"))
        return f"MetricSpec({name}, {keys})"

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The metric's value and its update, in the graph being built."""
        given = {
            "predictions": self._chosen("prediction_key", predictions),
            "labels": self._chosen("label_key", labels),
        }
        asked = inspect.signature(self.metric_fn).parameters
        if "labels" not in asked and "targets" in asked:
            given["targets"] = given.pop("labels")
        if self.weight_key is not None:
            given["weights"] = inputs[self.weight_key]
        return self.metric_fn(**given)

    def _chosen(self, which: str, values: Any) -> Any:
        key = getattr(self, which)
        if not isinstance(values, dict):
            if key is not None:
                raise UsageError(f"{self}: {which} is {key!r}, but there is one value and no dict.")
            return values
        if key is None:
            if len(values) != 1:
                raise UsageError(f"{self}: {which} is not set, and there are several: {', '.join(sorted(values))}.")
            return next(iter(values.values()))
        if key not in values:
            raise UsageError(f"{self}: {which} is {key!r}; there are: {', '.join(sorted(values))}.")
        return values[key]
