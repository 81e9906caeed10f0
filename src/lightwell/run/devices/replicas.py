"""One model on several devices: calls `model_fn` for each replica, and merges what it returned.

Takes a `tf.distribute` strategy and a function that builds the model of one replica; returns the specs of all replicas,
and one merged spec: the mean loss, one step of all, metrics over all batches, and hooks, summaries and the saver of the
first replica.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.keys import HANDLE_ONLY_OPS, OWN_SCOPE, VALUE_READ_OPS
from lightwell.foreign import private_strategies, private_tf
from lightwell.model.layers.per_graph import replica_number
from lightwell.model.spec import EstimatorSpec
from lightwell.run.devices.sparse_gradients import reduce_sparse_on_one_device
from lightwell.run.devices.strategies import spans_processes
from lightwell.run.devices.synchronized_steps import synchronize_replica
from lightwell.run.inputs.replica_batches import ReplicaBatch

_GraphKeys = tf.compat.v1.GraphKeys


@dataclass(frozen=True, eq=False)
class Replicas:
    """The model of each replica, where a strategy builds several.

    Attributes:
        batches: the input of each.
        specs: what `model_fn` returned for each.
    """

    batches: tuple[ReplicaBatch, ...]
    specs: tuple[EstimatorSpec, ...]


def in_scope(strategy: Any) -> contextlib.AbstractContextManager[Any]:
    """The scope in which a strategy creates variables; an empty one without a strategy."""
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def build_replicas(
    strategy: Any, batches: Sequence[ReplicaBatch], build: Callable[[ReplicaBatch], tuple[ReplicaBatch, EstimatorSpec]]
) -> Replicas:
    """Calls `build` once for each replica, with its batch, on the device of the replica."""
    built: dict[int, tuple[ReplicaBatch, EstimatorSpec]] = {}

    def of_one_replica() -> None:
        number = replica_number()
        batch, spec = build(batches[number])
        is_last = batches[number].is_last
        built[number] = batch, synchronize_replica(spec, is_last) if spans_processes(strategy) else spec

    with private_strategies.mean_over_replicas(strategy), reduce_sparse_on_one_device(strategy):
        strategy.extended.call_for_each_replica(tf.autograph.experimental.do_not_convert(of_one_replica))
    in_order = [built[number] for number in sorted(built)]
    return Replicas(tuple(batch for batch, _ in in_order), tuple(spec for _, spec in in_order))


def merged_spec(replicas: Replicas) -> EstimatorSpec:
    """The one spec that a run takes; must be called in the scope of the strategy, outside of the replicas."""
    first, *others = replicas.specs
    if not others:
        return first
    changes: dict[str, Any] = {"scaffold": _merged_scaffold([spec.scaffold for spec in replicas.specs])}
    if first.loss is not None:
        changes["loss"] = _mean_loss(replicas)
    if first.train_op is not None:
        changes["train_op"] = tf.group(*[spec.train_op for spec in replicas.specs], name=f"{OWN_SCOPE}all_train")
    if first.eval_metric_ops:
        changes["eval_metric_ops"] = _merged_metrics(replicas)
    return first._replace(**changes)


def _mean_loss(replicas: Replicas) -> Any:
    """The mean of the losses of all replicas that have a batch of their own."""
    losses, there = [spec.loss for spec in replicas.specs], [batch.is_own for batch in replicas.batches]
    if all(one is None for one in there):
        return tf.divide(tf.add_n(losses), len(losses), name=f"{OWN_SCOPE}mean_loss")
    kind = losses[0].dtype
    counted = [tf.ones([], kind) if one is None else tf.cast(one, kind) for one in there]
    both = zip(losses, counted, strict=True)
    total = tf.add_n([tf.where(count > 0, loss, tf.zeros_like(loss)) for loss, count in both])
    return tf.divide(total, tf.add_n(counted), name=f"{OWN_SCOPE}mean_loss")


def _merged_metrics(replicas: Replicas) -> dict[str, Any]:
    """The value of each metric, which the first replica reads over all of them, and the updates by all."""
    updates = [_parts(pair[1] for pair in spec.eval_metric_ops.values()) for spec in replicas.specs]
    undo_ops = [
        _undo_unless(batch.is_own, number, updates[number])
        for number, batch in enumerate(replicas.batches)
        if batch.is_own is not None
    ]
    update = tf.group(*(part for of_one in updates for part in of_one), *undo_ops, name=f"{OWN_SCOPE}all_updates")
    return {name: (value, update) for name, (value, _) in replicas.specs[0].eval_metric_ops.items()}


def _undo_unless(is_own: Any, number: int, updates: Sequence[Any]) -> Any:
    """An op that reverts what a replica without a batch of its own did to its metrics.

    The last batches need not be enough for all replicas; those that have none repeat the batch of another.
    """
    graph = tf.compat.v1.get_default_graph()
    own = [_component(variable, number) for variable in graph.get_collection(_GraphKeys.LOCAL_VARIABLES)]
    variables = {variable.handle.name: variable for variable in own if variable is not None}
    before: dict[str, Any] = {}
    writes = _writes(graph, variables)
    for name, changes in writes.items():
        before[name] = variables[name].read_value()
        for change in changes:
            private_tf.add_control_inputs(change, [before[name].op])
    with tf.control_dependencies([part for part in updates if part is not None]):
        return tf.group(
            *(
                variables[name].assign(tf.where(is_own, variables[name].read_value(), value), read_value=False)
                for name, value in before.items()
            )
        )


def _component(variable: Any, number: int) -> Any:
    """The part of a variable that belongs to a replica; None where all share one."""
    parts = private_tf.parts_of(variable)
    return parts[number] if len(parts) > number else None


def _writes(graph: tf.Graph, variables: dict[str, Any]) -> dict[str, list[tf.Operation]]:
    """By the name of a variable's handle, the ops that change it with a batch."""
    first = {variable.initializer.name for variable in variables.values()}
    writes: dict[str, list[tf.Operation]] = {}
    for op in graph.get_operations():
        if op.type in VALUE_READ_OPS or op.type in HANDLE_ONLY_OPS or op.name in first:
            continue
        for tensor in op.inputs:
            if tensor.dtype == tf.resource and tensor.name in variables:
                writes.setdefault(tensor.name, []).append(op)
    return writes


def _parts(updates: Iterable[Any]) -> list[Any]:
    return [part for update in updates for part in tf.nest.flatten(update)]


def _merged_scaffold(scaffolds: Sequence[Any]) -> Any:
    """The first replica's scaffold, with the init ops of all; the other parts are equal in all replicas."""
    first = scaffolds[0]
    changes = {
        name: tf.group(*ops, name=f"{OWN_SCOPE}all_{name}")
        for name in ("init_op", "local_init_op")
        for ops in [[getattr(one, name) for one in scaffolds if getattr(one, name) is not None]]
        if len(ops) > 1
    }
    fns = [one.init_fn for one in scaffolds if one.init_fn is not None]
    if len(fns) > 1:
        changes["init_fn"] = lambda scaffold, session: [function(session) for function in fns]
    return tf.compat.v1.train.Scaffold(copy_from_scaffold=first, **changes) if changes else first
