"""Keras metrics of `eval_metric_ops` as (value, update) pairs of the graph; their variables start anew each time.

`EstimatorSpec` asks for the pairs when it is made, as in `tf.estimator`: a metric that was never updated is told there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell.errors import ModelFnError
from lightwell.interop.trace import active_trace
from lightwell.interop.variables import graph_of, move_to_local, own_part, tf_variable
from lightwell.keys import NO_USE_OF_VALUE, READS_VALUE

# What reads a variable; every other operation that takes its handle changes it, or is a function that may.
_READS = READS_VALUE | NO_USE_OF_VALUE | {"SaveV2", "RestoreV2"}
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
        # One operation, as tf.estimator gives: programs group it, ask for its name, or export it.
        pairs[name] = (_single(name, metric, _read_alone(metric.result)), tf.group(*updates))
    return pairs


def result_pairs(variables: Iterable[Any], results: Callable[[], Mapping[str, Any]], graph: tf.Graph) -> dict[str, Any]:
    """Several values of metrics that were updated together, as (value, update) pairs.

    Args:
        variables: the variables of all the metrics.
        results: gives the values by name; called where nothing waits for an update.
        graph: the graph of the model.
    """
    update = tf.group(*_updates(variables, _changes_by_handle(graph), graph))
    return {name: (tf.convert_to_tensor(value), update) for name, value in _read_alone(results).items()}


def _updates(metric_variables: Iterable[Any], changes: Mapping[str, list[Any]], graph: tf.Graph) -> list[Any]:
    """The operations that change the variables with each batch; the variables start anew in each session."""
    variables = [tf_variable(variable) for variable in metric_variables]
    # One that has values outside of graphs was never updated in this one.
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
        _tf.run_after(update, batch)
    return list({id(update): update for update in updates}.values())


def _read_alone(result: Callable[[], Any]) -> Any:
    """A value of metrics, of what all replicas of a strategy counted."""
    replica = tf.distribute.get_replica_context()
    if replica is None or replica.num_replicas_in_sync == 1:
        return _read_here(result)
    return replica.merge_call(lambda strategy: _read_here(result))


def _read_here(result: Callable[[], Any]) -> Any:
    trace = active_trace()
    with tf.control_dependencies(None), contextlib.nullcontext() if trace is None else trace.reading_alone():
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
    known = [part for key in keys for variable in graph.get_collection(key) for part in _tf.parts_of(variable)]
    first = {variable.initializer.name for variable in known}
    changes: dict[str, list[Any]] = {}
    for operation in graph.get_operations():
        if operation.type in _READS or operation.name in first:
            continue
        for tensor in operation.inputs:
            if tensor.dtype == tf.resource:
                changes.setdefault(tensor.name, []).append(operation)
    return changes
