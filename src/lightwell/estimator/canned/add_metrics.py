"""`add_metrics`: an Estimator that evaluates more metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lightwell.base.callables import arguments_of, name_of
from lightwell.base.keys import ModeKeys
from lightwell.errors import ModelFnError, UsageError, WrongKind
from lightwell.estimator.core import Estimator
from lightwell.model.spec import EstimatorSpec

_ARGUMENTS = ("features", "labels", "predictions", "config")


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Mapping[str, Any]]) -> Estimator:
    """A copy of an Estimator with more metrics; both share a `model_dir`.

        def spread(labels, predictions):
            return {"rmse": tf.compat.v1.metrics.root_mean_squared_error(labels, predictions["predictions"])}

        est = lw.add_metrics(lw.DNNRegressor([64], columns), spread)

    Args:
        estimator: the Estimator.
        metric_fn: takes any of `features`, `labels`, `predictions`, `config`, by name; gives metrics by name, as in
            `eval_metric_ops`. They replace metrics of the same name.

    Raises:
        UsageError: `metric_fn` is no function, or takes something else.
    """
    if not isinstance(estimator, Estimator):
        raise WrongKind(f"add_metrics: estimator must be an Estimator, got {estimator!r}.")
    if not callable(metric_fn):
        raise WrongKind(f"add_metrics: metric_fn must be a function, got {metric_fn!r}.")
    takes = arguments_of(metric_fn)
    unknown = sorted(takes.required.difference(_ARGUMENTS))
    if unknown:
        raise UsageError(
            f"add_metrics: metric_fn ({name_of(metric_fn)}) has following not expected args: {unknown}. It may take "
            f"any of {list(_ARGUMENTS)}."
        )

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        arguments = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        more = metric_fn(
            **{name: value for name, value in arguments.items() if takes.has_kwargs or takes.accepts(name)}
        )
        if not isinstance(more, Mapping):
            raise ModelFnError(
                f"add_metrics: metric_fn ({name_of(metric_fn)}) must return a dict of metrics by name, got {more!r}."
            )
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **more})

    return Estimator(model_fn, estimator.model_dir, estimator.config)
