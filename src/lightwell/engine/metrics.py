"""Evaluation's metrics as ops: one update, and a value per name.

Takes the metrics of an `EstimatorSpec` (v1 pairs and Keras metric objects) and adds the mean loss and the global step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell.engine.program import EvalOps
from lightwell.errors import ModelFnError
from lightwell.keys import GLOBAL_STEP, LOSS
from lightwell.spec import EstimatorSpec, is_keras_metric

_ASSIGNMENTS = frozenset(
    ["AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp", "ResourceScatterAdd", "ResourceScatterUpdate"]
)


def evaluation_ops(spec: EstimatorSpec, global_step: Any) -> EvalOps:
    """Builds the ops that an evaluation runs, in the default graph.

    Raises:
        ModelFnError: a metric has a reserved name, or a Keras metric was never updated.
    """
    for reserved in (LOSS, GLOBAL_STEP):
        if reserved in spec.eval_metric_ops:
            raise ModelFnError(
                f'model_fn: Metric with name "{reserved}" is not allowed, because Estimator already defines a default '
                "metric with the same name. Give it another name in eval_metric_ops."
            )
    metrics: dict[str, Any] = {**spec.eval_metric_ops, LOSS: tf.compat.v1.metrics.mean(spec.loss)}
    updates, values = [], {}
    for name in sorted(metrics):
        value, update = _keras_pair(name, metrics[name]) if is_keras_metric(metrics[name]) else metrics[name]
        updates.append(update)
        values[name] = value
    values[GLOBAL_STEP] = global_step
    return EvalOps(update=tf.group(*_grouped(updates)), values=values)


def _grouped(updates: Iterable[Any]) -> list[Any]:
    """Update ops as a flat list: a v1 update may be a tensor, an op, or a structure of them."""
    return [part for update in updates for part in tf.nest.flatten(update)]


def _keras_pair(name: str, metric: Any) -> tuple[Any, Any]:
    """A Keras metric as a (value, update) pair.

    Keras keeps no list of its update ops in a graph; they are the assignments to the metric's own variables that
    `update_state` left there.
    """
    variables = [_tf_variable(variable) for variable in metric.variables]
    handles = {id(variable.handle): variable for variable in variables}
    updates = [
        op
        for op in tf.compat.v1.get_default_graph().get_operations()
        if op.type in _ASSIGNMENTS and id(op.inputs[0]) in handles and op is not handles[id(op.inputs[0])].initializer
    ]
    if not updates:
        raise ModelFnError(
            f'eval_metric_ops[{name!r}]: Please call update_state(...) on the "{metric.name}" metric inside model_fn, '
            "before the metric is handed to EstimatorSpec."
        )
    for variable in variables:
        _make_local(variable)
    with tf.control_dependencies(None):
        return tf.convert_to_tensor(metric.result()), updates


def _tf_variable(variable: Any) -> Any:
    """The TensorFlow variable inside a Keras 3 variable; a legacy Keras variable is one already."""
    return getattr(variable, "value", None) if not hasattr(variable, "handle") else variable


def _make_local(variable: Any) -> None:
    """Moves a variable from the saved ones to the local ones: a metric starts from zero in each evaluation."""
    graph = tf.compat.v1.get_default_graph()
    for collection in (tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES):
        members = graph.get_collection_ref(collection)
        members[:] = [member for member in members if member is not variable]
    if not any(member is variable for member in graph.get_collection(tf.compat.v1.GraphKeys.LOCAL_VARIABLES)):
        graph.add_to_collection(tf.compat.v1.GraphKeys.LOCAL_VARIABLES, variable)
