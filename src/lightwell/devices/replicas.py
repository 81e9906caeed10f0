"""A model that runs on several devices at once: `model_fn` called for each replica, and what it returned put together.

Takes a `tf.distribute` strategy and a function that builds the model of one replica; gives the specs of
all of them, and one spec that stands for them: the mean loss, one step of all, metrics over all batches, and what can
be there only once (hooks, summaries, the saver) of the first replica.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell import _tf, _tf_strategies
from lightwell.devices.sparse_gradients import of_any_size
from lightwell.devices.strategies import spans_processes
from lightwell.devices.together import told_to_all
from lightwell.inputs.shares import Share
from lightwell.keys import NO_USE_OF_VALUE, OWN_SCOPE, READS_VALUE
from lightwell.layers.per_graph import replica_number
from lightwell.spec import EstimatorSpec

_GraphKeys = tf.compat.v1.GraphKeys


@dataclass(frozen=True, eq=False)
class Replicas:
    """The model of each replica, where a strategy builds several.

    Attributes:
        shares: what each got of the input.
        specs: what `model_fn` returned for each.
    """

    shares: tuple[Share, ...]
    specs: tuple[EstimatorSpec, ...]


def in_scope(strategy: Any) -> contextlib.AbstractContextManager[Any]:
    """The block in which a strategy sees to variables; without one, nothing."""
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def built_on_all(
    strategy: Any, shares: Sequence[Share], build: Callable[[Share], tuple[Share, EstimatorSpec]]
) -> Replicas:
    """Calls `build` once for each replica, with its share of the input, where the strategy wants it."""
    built: dict[int, tuple[Share, EstimatorSpec]] = {}

    def of_one_replica() -> None:
        number = replica_number()
        share, spec = build(shares[number])
        is_last = shares[number].is_last
        built[number] = share, told_to_all(spec, is_last) if spans_processes(strategy) else spec

    with _tf_strategies.mean_over_replicas(strategy), of_any_size(strategy):
        strategy.extended.call_for_each_replica(tf.autograph.experimental.do_not_convert(of_one_replica))
    in_order = [built[number] for number in sorted(built)]
    return Replicas(tuple(share for share, _ in in_order), tuple(spec for _, spec in in_order))


def joined_spec(replicas: Replicas) -> EstimatorSpec:
    """The one spec that a run takes; must be called in the scope of the strategy, outside of the replicas."""
    first, *others = replicas.specs
    if not others:
        return first
    changes: dict[str, Any] = {"scaffold": _joined_scaffold([spec.scaffold for spec in replicas.specs])}
    if first.loss is not None:
        changes["loss"] = _mean_loss(replicas)
    if first.train_op is not None:
        changes["train_op"] = tf.group(*[spec.train_op for spec in replicas.specs], name=f"{OWN_SCOPE}all_train")
    if first.eval_metric_ops:
        changes["eval_metric_ops"] = _joined_metrics(replicas)
    return first._replace(**changes)


def _mean_loss(replicas: Replicas) -> Any:
    """The mean of the losses of all replicas that have a batch of their own."""
    losses, there = [spec.loss for spec in replicas.specs], [share.is_there for share in replicas.shares]
    if all(one is None for one in there):
        return tf.divide(tf.add_n(losses), len(losses), name=f"{OWN_SCOPE}mean_loss")
    kind = losses[0].dtype
    counted = [tf.ones([], kind) if one is None else tf.cast(one, kind) for one in there]
    both = zip(losses, counted, strict=True)
    total = tf.add_n([tf.where(count > 0, loss, tf.zeros_like(loss)) for loss, count in both])
    return tf.divide(total, tf.add_n(counted), name=f"{OWN_SCOPE}mean_loss")


def _joined_metrics(replicas: Replicas) -> dict[str, Any]:
    """The value of each metric, which the first replica reads over all of them, and the updates by all."""
    updates = [_parts(pair[1] for pair in spec.eval_metric_ops.values()) for spec in replicas.specs]
    kept = [
        _undone_unless(share.is_there, number, updates[number])
        for number, share in enumerate(replicas.shares)
        if share.is_there is not None
    ]
    update = tf.group(*(part for of_one in updates for part in of_one), *kept, name=f"{OWN_SCOPE}all_updates")
    return {name: (value, update) for name, (value, _) in replicas.specs[0].eval_metric_ops.items()}


def _undone_unless(is_there: Any, number: int, updates: Sequence[Any]) -> Any:
    """An op that takes back what a replica without a batch of its own did to its metrics.

    The last batches need not be enough for all replicas; those that have none compute with one that another has.
    """
    graph = tf.compat.v1.get_default_graph()
    own = [_component(variable, number) for variable in graph.get_collection(_GraphKeys.LOCAL_VARIABLES)]
    variables = {variable.handle.name: variable for variable in own if variable is not None}
    before: dict[str, Any] = {}
    writes = _writes(graph, variables)
    for name, changes in writes.items():
        before[name] = variables[name].read_value()
        for change in changes:
            _tf.run_after(change, [before[name].op])
    with tf.control_dependencies([part for part in updates if part is not None]):
        return tf.group(
            *(
                variables[name].assign(tf.where(is_there, variables[name].read_value(), value), read_value=False)
                for name, value in before.items()
            )
        )


def _component(variable: Any, number: int) -> Any:
    """What a replica has of a variable of its own; None where it is one for all."""
    parts = _tf.parts_of(variable)
    return parts[number] if len(parts) > number else None


def _writes(graph: tf.Graph, variables: dict[str, Any]) -> dict[str, list[tf.Operation]]:
    """By the name of a variable's handle, the ops that change it with a batch."""
    first = {variable.initializer.name for variable in variables.values()}
    writes: dict[str, list[tf.Operation]] = {}
    for op in graph.get_operations():
        if op.type in READS_VALUE or op.type in NO_USE_OF_VALUE or op.name in first:
            continue
        for tensor in op.inputs:
            if tensor.dtype == tf.resource and tensor.name in variables:
                writes.setdefault(tensor.name, []).append(op)
    return writes


def _parts(updates: Iterable[Any]) -> list[Any]:
    return [part for update in updates for part in tf.nest.flatten(update)]


def _joined_scaffold(scaffolds: Sequence[Any]) -> Any:
    """The first replica's scaffold, with the init ops of all; what others may have besides is the same again."""
    first = scaffolds[0]
    changes = {
        name: tf.group(*given, name=f"{OWN_SCOPE}all_{name}")
        for name in ("init_op", "local_init_op")
        for given in [[getattr(one, name) for one in scaffolds if getattr(one, name) is not None]]
        if len(given) > 1
    }
    fns = [one.init_fn for one in scaffolds if one.init_fn is not None]
    if len(fns) > 1:
        changes["init_fn"] = lambda scaffold, session: [function(session) for function in fns]
    return tf.compat.v1.train.Scaffold(copy_from_scaffold=first, **changes) if changes else first
