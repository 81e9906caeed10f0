"""The ready ops of a graph: they name what has no value yet in a session.

`Scaffold` would build them with forty ops, a tenth of the time to the first step of a small model; these are a few. A
scaffold takes them from the graph's collections. A session runs one before the local variables are initialised and one
after; where the second covers both, one op serves for both and is run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import OWN_SCOPE
from lightwell.foreign import private_tf
from lightwell.run.engine.program import Program

_GraphKeys = tf.compat.v1.GraphKeys


def add_ready_ops(program: Program) -> None:
    """Adds both ops for a scaffold that would build them, unless `model_fn` put its own into the collections."""
    graph, scaffold = program.graph, program.spec.scaffold
    ready = None
    if scaffold.ready_op is None and not graph.get_collection(_GraphKeys.READY_OP):
        variables = [
            *graph.get_collection(_GraphKeys.GLOBAL_VARIABLES),
            *graph.get_collection(_GraphKeys.LOCAL_VARIABLES),
        ]
        resources = [*graph.get_collection(_GraphKeys.RESOURCES), *graph.get_collection(_GraphKeys.LOCAL_RESOURCES)]
        ready = _without_value(variables, resources, "ready")
        graph.add_to_collection(_GraphKeys.READY_OP, ready)
    if scaffold.ready_for_local_init_op is None and not graph.get_collection(_GraphKeys.READY_FOR_LOCAL_INIT_OP):
        # The usual local_init_op gives no value to other variables.
        is_usual = scaffold.local_init_op is None and not graph.get_collection(_GraphKeys.LOCAL_INIT_OP)
        if ready is None or not is_usual:
            variables = graph.get_collection(_GraphKeys.GLOBAL_VARIABLES)
            ready = _without_value(variables, graph.get_collection(_GraphKeys.RESOURCES), "ready_for_local_init")
        graph.add_to_collection(_GraphKeys.READY_FOR_LOCAL_INIT_OP, ready)


def first_of(names: Sequence[str], graph: tf.Graph) -> list[str]:
    """Those of the names that must have a value before the local variables are initialised."""
    first = {private_tf.variable_name(one) for one in graph.get_collection(_GraphKeys.GLOBAL_VARIABLES)}
    first |= {one.handle.name for one in graph.get_collection(_GraphKeys.RESOURCES)}
    return [name for name in names if name in first]


def _without_value(variables: Sequence[Any], resources: Sequence[Any], name: str) -> Any:
    """The names of those of them that have no value yet."""
    with tf.name_scope(f"{OWN_SCOPE}{name}/"):
        # An op on a variable is placed with it: one on the CPU would place all variables there.
        states = {private_tf.variable_name(one): _has_value(one) for one in variables}
        states.update((one.handle.name, one.is_initialized) for one in resources)
        with tf.device("/cpu:0"):
            if not states:
                return tf.constant([], tf.string)
            with_value = tf.cast(tf.stack(list(states.values())), tf.int32)
            return tf.dynamic_partition(tf.constant(list(states)), with_value, 2)[0]


def _has_value(variable: Any) -> Any:
    if isinstance(variable, tf.Variable) and hasattr(variable, "is_initialized"):
        return variable.is_initialized()
    return tf.compat.v1.is_variable_initialized(variable)  # a reference, as old graphs have it
