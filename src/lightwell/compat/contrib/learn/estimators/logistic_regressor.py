"""`tf.contrib.learn.LogisticRegressor`: metrics of two classes around a `model_fn` that gives probabilities."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.compat.contrib.learn.estimators.base import Estimator
from lightwell.compat.contrib.learn.estimators.model_fn_ops import model_fn_ops
from lightwell.compat.contrib.learn.heads.metrics import metrics_of_two_classes


def LogisticRegressor(  # noqa: N802  the name that programs call
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: Any = None,
    config: Any = None,
    feature_engineering_fn: Any = None,
) -> Estimator:
    """An Estimator whose evaluation has the metrics of two classes.

    Args:
        model_fn: returns probabilities, `[batch]` or `[batch, 1]`, as its predictions.
        thresholds: for which metrics are computed; 0.5 if None.
        model_dir: the folder of checkpoints and events.
        config: a `learn.RunConfig`.
        feature_engineering_fn: from features and labels to those that `model_fn` sees.
    """

    def with_metrics(features: Any, labels: Any, mode: str) -> Any:
        given = {"mode": mode} if "mode" in inspect.signature(model_fn).parameters else {}
        made = model_fn_ops(model_fn(features, labels, **given), mode)
        if mode != ModeKeys.EVAL:
            return made
        classes = tf.cast(made.predictions > 0.5, tf.int64)
        metrics = metrics_of_two_classes(classes, made.predictions, labels, None, tuple(thresholds or (0.5,)))
        for absent in ("accuracy", "auc_precision_recall"):
            metrics.pop(absent)
        return made._replace(eval_metric_ops={**made.eval_metric_ops, **metrics})

    return Estimator(with_metrics, model_dir, config, None, feature_engineering_fn)
