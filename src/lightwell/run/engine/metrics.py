"""Evaluation's metrics as ops: one update, and a value per name.

Takes the metrics of a built `EstimatorSpec`, whose Keras metrics are pairs by now; adds the mean loss, once for each
replica, and the global step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell.base.keys import GLOBAL_STEP, LOSS
from lightwell.errors import ModelFnError
from lightwell.model.spec import EstimatorSpec
from lightwell.run.engine.program import EvalOps


def with_loss_metric(spec: EstimatorSpec) -> EstimatorSpec:
    """The spec with the mean loss among its metrics.

    Raises:
        ModelFnError: a metric has a reserved name.
    """
    for reserved, quoted in ((LOSS, f'"{LOSS}"'), (GLOBAL_STEP, f"`{GLOBAL_STEP}`")):
        if reserved in spec.eval_metric_ops:
            raise ModelFnError(
                f"model_fn: Metric with name {quoted} is not allowed, because Estimator already defines a default "
                "metric with the same name. Give it another name in eval_metric_ops."
            )
    return spec._replace(eval_metric_ops={**spec.eval_metric_ops, LOSS: tf.compat.v1.metrics.mean(spec.loss)})


def evaluation_ops(spec: EstimatorSpec, global_step: Any) -> EvalOps:
    """Builds the ops that an evaluation runs, in the default graph."""
    metrics = spec.eval_metric_ops
    updates, values = [], {}
    for name in sorted(metrics):
        value, update = metrics[name]
        updates.append(update)
        values[name] = value
    values[GLOBAL_STEP] = global_step
    # A local_init_op of the user's cannot know the variables that were added here.
    has_own_init = spec.scaffold.local_init_op is not None
    reset = tf.compat.v1.train.Scaffold.default_local_init_op() if has_own_init else None
    return EvalOps(update=tf.group(*_grouped(updates)), values=values, reset=reset)


def _grouped(updates: Iterable[Any]) -> list[Any]:
    """Update ops as a flat list: a v1 update may be a tensor, an op, or a structure of them."""
    return [part for update in updates for part in tf.nest.flatten(update)]
