"""Keras metrics of `eval_metric_ops` as (value, update) pairs of the graph; their variables start anew each time.

`EstimatorSpec` asks for the pairs when it is made, as in `tf.estimator`: a metric that was never updated is told there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.errors import ModelFnError
from lightwell.interop.trace import active_trace
from lightwell.interop.variables import move_to_local, tf_variable

# What reads a variable; every other operation that takes its handle changes it, or is a function that may.
_READS = frozenset(
    "ReadVariableOp VarIsInitializedOp VariableShape ResourceGather ResourceGatherNd SaveV2 RestoreV2".split()
)
_BATCH = ("IteratorGetNext", "QueueDequeue", "ReaderRead")


def metric_pairs(metrics: Mapping[str, Any], graph: tf.Graph) -> dict[str, tuple[Any, Any]]:
    """Keras metrics by name, as (value, update) pairs.

    Raises:
        ModelFnError: a metric was never updated in the graph, or gives several values.
    """
    changes = _changes_by_handle(graph)
    return {name: _pair(name, metric, changes, graph) for name, metric in metrics.items()}


def _pair(name: str, metric: Any, changes: Mapping[str, list[Any]], graph: tf.Graph) -> tuple[Any, Any]:
    variables = [tf_variable(variable) for variable in metric.variables]
    # One that has values outside of graphs was never updated in this one.
    variables = [v for v in variables if v is not None and getattr(v.handle, "graph", None) is graph]
    first = {variable.initializer.name for variable in variables}  # tf_keras keeps them in no collection
    updates = [
        change for variable in variables for change in changes.get(variable.handle.name, ()) if change.name not in first
    ]
    if not updates:
        raise ModelFnError(
            f'eval_metric_ops[{name!r}]: Please call update_state(...) on the "{metric.name}" metric inside model_fn, '
            "before the metric is handed to EstimatorSpec."
        )
    trace = active_trace()
    for variable in variables:
        move_to_local(graph, variable)
        if trace is not None:
            trace.declared.add(id(variable))
    # At the end of the data the run fails, but what does not wait for the batch has happened by then: a count of
    # batches would be one too many.
    batch = [op for op in graph.get_operations() if op.type.startswith(_BATCH)]
    for update in updates:
        _tf.run_after(update, batch)
    read_alone = contextlib.nullcontext() if trace is None else trace.reading_alone()
    with tf.control_dependencies(None), read_alone:
        result = metric.result()
    return _single(name, metric, result), list({id(update): update for update in updates}.values())


def _single(name: str, metric: Any, result: Any) -> Any:
    if isinstance(result, Mapping):
        raise ModelFnError(
            f"eval_metric_ops[{name!r}]: the {type(metric).__name__} metric gives several values {sorted(result)}; "
            "expected one. Hand over one metric per value."
        )
    return tf.convert_to_tensor(result)


def _changes_by_handle(graph: tf.Graph) -> dict[str, list[Any]]:
    """Variable handle's name to the operations that change the variable, those that set its first value left out."""
    keys = (tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, tf.compat.v1.GraphKeys.LOCAL_VARIABLES)
    first = {variable.initializer.name for key in keys for variable in graph.get_collection(key)}
    changes: dict[str, list[Any]] = {}
    for operation in graph.get_operations():
        if operation.type in _READS or operation.name in first:
            continue
        for tensor in operation.inputs:
            if tensor.dtype == tf.resource:
                changes.setdefault(tensor.name, []).append(operation)
    return changes
