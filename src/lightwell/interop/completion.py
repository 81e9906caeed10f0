"""What a spec gains from the Keras objects of its `model_fn`: updates in training, metrics as operations."""

from __future__ import annotations

import tensorflow as tf

from lightwell.interop.metrics import metric_pairs
from lightwell.interop.trace import KerasTrace
from lightwell.interop.variables import tf_variable
from lightwell.keys import ModeKeys
from lightwell.spec import EstimatorSpec, is_keras_metric


def completed(spec: EstimatorSpec, trace: KerasTrace) -> EstimatorSpec:
    """The spec whose train op also keeps moving statistics up to date, or whose Keras metrics are pairs of operations.

    Call it while the trace is open.

    Raises:
        ModelFnError: a Keras metric of an evaluation was never updated.
    """
    if trace.mode == ModeKeys.EVAL:
        trace.reads_in_order = False  # the value of a metric is read alone, once all batches are in
        return spec._replace(eval_metric_ops=metric_pairs(spec.eval_metric_ops, trace.graph))
    updates = [*trace.updates, *_updates_of_own_metrics(spec, trace)] if trace.is_training else []
    if not updates:
        return spec
    return spec._replace(train_op=tf.group(spec.train_op, *updates, name="lightwell/train_step"))


def _updates_of_own_metrics(spec: EstimatorSpec, trace: KerasTrace) -> list[tf.Operation]:
    """Updates of metrics that the spec does not declare: a model shows them in a summary, say."""
    declared = [metric for metric in spec.eval_metric_ops.values() if is_keras_metric(metric)]
    ignored = {id(tf_variable(variable)) for metric in declared for variable in metric.variables}
    return [operation for variable, operation in trace.local_updates if id(variable) not in ignored]
