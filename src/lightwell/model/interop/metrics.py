"""Keras metrics of `eval_metric_ops` as (value, update) pairs of the graph; each session resets their variables.

`EstimatorSpec` requests the pairs in its constructor, as in `tf.estimator`, and raises for a metric without updates.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import HANDLE_ONLY_OPS, VALUE_READ_OPS
from lightwell.errors import ModelFnError
from lightwell.foreign import private_tf
from lightwell.model.interop.trace import active_trace
from lightwell.model.interop.variables import graph_of, move_to_local, own_part, tf_variable

# Operations that read a variable; every other one that takes its handle changes it, or is a function that may.
_READS = VALUE_READ_OPS | HANDLE_ONLY_OPS | {"SaveV2", "RestoreV2"}
_BATCH = ("IteratorGetNext", "QueueDequeue", "ReaderRead")


def metric_pairs(metrics: Mapping[str, Any], graph: tf.Graph) -> dict[str, tuple[Any, Any]]:
    """Keras metrics by name, as (value, update) pairs.

    Raises:
        ModelFnError: a metric was never updated in the graph, or gives several values.
    """
    changes = _changes_by_handle(graph)
    pairs = {}
    for name, metric in metrics.items():
        updates = _updates(metric.variables, changes, graph)
        if not updates:
            raise ModelFnError(
                f'eval_metric_ops[{name!r}]: Please call update_state(...) on the "{metric.name}" metric inside '
                "model_fn, before the metric is handed to EstimatorSpec."
            )
        # One operation, as in tf.estimator: programs group it, use its name, or export it.
        pairs[name] = (_single(name, metric, _read_metric(metric.result)), tf.group(*updates))
    return pairs


def result_pairs(variables: Iterable[Any], results: Callable[[], Mapping[str, Any]], graph: tf.Graph) -> dict[str, Any]:
    """Several values of metrics that were updated together, as (value, update) pairs.

    Args:
        variables: the variables of all the metrics.
        results: returns the values by name; called without control dependencies on updates.
        graph: the graph of the model.
    """
    update = tf.group(*_updates(variables, _changes_by_handle(graph), graph))
    return {name: (tf.convert_to_tensor(value), update) for name, value in _read_metric(results).items()}


def _updates(metric_variables: Iterable[Any], changes: Mapping[str, list[Any]], graph: tf.Graph) -> list[Any]:
    """The operations that change the variables with each batch; moves the variables to the local ones."""
    variables = [tf_variable(variable) for variable in metric_variables]
    # An eager variable was never updated in this graph.
    variables = [v for v in variables if v is not None and graph_of(v) is graph]
    parts = [own_part(variable) for variable in variables]
    first = {part.initializer.name for part in parts}  # tf_keras keeps them in no collection
    updates = [change for part in parts for change in changes.get(part.handle.name, ()) if change.name not in first]
    if not updates:
        return []
    trace = active_trace()
    for variable in variables:
        move_to_local(graph, variable)
        if trace is not None:
            trace.declared.add(id(variable))
    # At the end of the data the run fails, but what does not wait for the batch has happened by then: a count of
    # batches would be one too many.
    batch = [op for op in graph.get_operations() if op.type.startswith(_BATCH)]
    for update in updates:
        private_tf.add_control_inputs(update, batch)
    return list({id(update): update for update in updates}.values())


def _read_metric(result: Callable[[], Any]) -> Any:
    """The value of metrics over all replicas of a strategy."""
    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync == 1:
        return _read_unordered(result)
    return replica.merge_call(lambda strategy: _read_unordered(result))


def _read_unordered(result: Callable[[], Any]) -> Any:
    trace = active_trace()
    with tf.control_dependencies(None), contextlib.nullcontext() if trace is None else trace.unordered_reads():
        return result()


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
    known = [part for key in keys for variable in graph.get_collection(key) for part in private_tf.parts_of(variable)]
    first = {variable.initializer.name for variable in known}
    changes: dict[str, list[Any]] = {}
    for operation in graph.get_operations():
        if operation.type in _READS or operation.name in first:
            continue
        for tensor in operation.inputs:
            if tensor.dtype == tf.resource:
                changes.setdefault(tensor.name, []).append(operation)
    return changes
