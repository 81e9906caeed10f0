"""Keras 3 variables in a model's graph: created at first use, under the path of their layer.

Keras names a variable before it knows the model of its layer, and a layer may be older than the graph. So a Keras
variable created while `model_fn` runs has no backing TensorFlow variable until a layer uses it on real tensors; one
from outside (eager, or another graph) gets a backing variable in this graph for the time of the build.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import ModelFnError
from lightwell.foreign import private_keras, private_tf
from lightwell.model.interop.initial_values import fixed, outside_the_graph, seeded
from lightwell.model.interop.trace import KerasTrace, OpenCall
from lightwell.model.layers.per_graph import replica_number

_v1 = tf.compat.v1
_PLAN = "_lightwell_plan"


@dataclass(frozen=True, eq=False)
class VariablePlan:
    """How to create the backing variable of a Keras variable that a `model_fn` created.

    Attributes:
        initializer: called with shape and dtype.
        is_local: whether each session initializes it, instead of restoring it from the checkpoint.
        name: its name in the graph, if that is not below the path of its layer.
    """

    initializer: Any
    is_local: bool
    name: str | None = None


def plan_of(variable: Any) -> VariablePlan | None:
    """The plan of a variable; None for one created outside of any `model_fn`."""
    return getattr(variable, _PLAN, None)


def set_plan(variable: Any, initializer: Any, *, is_local: bool, name: str | None = None) -> None:
    """Sets the plan of a variable."""
    setattr(variable, _PLAN, VariablePlan(initializer, is_local, name))


def as_initializer(value: Any, dtype: Any = None) -> Any:
    """An initializer that returns one value, a tensor of this graph or an array."""
    if tf.is_tensor(value):
        return lambda shape, dtype=dtype: tf.cast(value, dtype)
    array = np.asarray(value)
    return lambda shape, dtype=dtype: fixed(array, dtype)


def tf_variable(variable: Any) -> Any:
    """The TensorFlow variable behind a Keras 3 variable, if it is created; a legacy Keras variable is one already."""
    return variable if isinstance(variable, tf.Variable) else private_keras.tf_variable_of(variable)


def is_local(variable: Any) -> bool:
    """Whether each session initializes the variable, as those of metrics."""
    plan = plan_of(variable)
    return plan.is_local if plan is not None else is_session_state(variable)


def is_session_state(variable: Any) -> bool:
    """Whether it is a metric's variable, or the state that a stateful recurrent layer carries to the next batch."""
    return getattr(variable, "synchronization", None) == "on_read" or variable.name == "rnn_state"


def graph_of(backing: Any) -> Any:
    """The graph of a TensorFlow variable; None for an eager one."""
    part = private_tf.parts_of(backing)[0]
    return getattr(getattr(part, "handle", part), "graph", None)  # a variable of references has no handle


def name_of(backing: Any) -> str:
    """The name of a TensorFlow variable in checkpoints, the same in every replica."""
    return private_tf.variable_name(backing)


def own_part(backing: Any) -> Any:
    """The part of a TensorFlow variable of the replica being built; the variable itself if replicas share it."""
    parts = private_tf.parts_of(backing)
    return parts[replica_number() if len(parts) > 1 else 0]


def is_created(trace: KerasTrace, variable: Any) -> bool:
    """Whether the Keras variable is backed by a TensorFlow variable of this graph."""
    backing = private_keras.tf_variable_of(variable)
    return backing is not None and graph_of(backing) is trace.graph


def ensure_created(trace: KerasTrace, variable: Any) -> None:
    """Creates the backing variable of a Keras variable in this graph, if it is missing.

    The other variables of its layer are created with it, in the order of the layer.
    """
    if is_created(trace, variable):
        return
    family = trace.open_calls[-1].layer.weights if trace.open_calls else []
    owner = _owner_path(variable)
    members = [member for member in family if _owner_path(member) == owner]
    if not any(member is variable for member in members):
        members = [variable]
    for member in members:
        if not is_created(trace, member):
            create(trace, member, _name_of(trace, member))


def create(trace: KerasTrace, variable: Any, name: str) -> Any:
    """Creates the TensorFlow variable of a Keras variable, under a name of this graph."""
    name = trace.names.unique_variable(name)
    initial_value = _initial_value(trace, variable, name)
    if plan_of(variable) is None:
        trace.borrowed.append((variable, private_keras.tf_variable_of(variable)))
    scope, _, leaf = name.rpartition("/")
    place = trace.graph.name_scope(f"{scope}/" if scope else None)
    settings = {"name": leaf, **_over_replicas(trace, variable)}
    named = tf.variable_creator_scope(lambda make, **kwargs: make(**{**kwargs, **settings}))
    with tf.init_scope(), place, named:
        private_keras.create_value(variable, initial_value)
    backing = private_keras.tf_variable_of(variable)
    _unlist_parts(trace.graph, backing)
    trace.created[id(backing)] = (backing, variable)
    if is_local(variable):
        move_to_local(trace.graph, backing)
    return backing


def _over_replicas(trace: KerasTrace, variable: Any) -> dict[str, Any]:
    """How the replicas of a strategy share a variable: what each counts or averages for itself is joined when read."""
    if tf.distribute.get_strategy().num_replicas_in_sync == 1 or (variable.trainable and not is_local(variable)):
        return {}
    if is_local(variable) and owner_call(trace, variable) is None:
        how = tf.VariableAggregation.SUM
    elif owner_call(trace, variable) is None:  # an optimizer's, which are the same everywhere
        return {}
    else:
        is_average = tf.as_dtype(private_keras.stored_dtype(variable)).is_floating
        how = tf.VariableAggregation.MEAN if is_average else tf.VariableAggregation.ONLY_FIRST_REPLICA
    return {"trainable": False, "synchronization": tf.VariableSynchronization.ON_READ, "aggregation": how}


def start_at(trace: KerasTrace, variable: Any, value: Any) -> None:
    """Sets the initial value, an array, of a Keras variable that has no backing variable in this graph yet."""
    if plan_of(variable) is None:
        trace.borrowed.append((variable, private_keras.tf_variable_of(variable)))
    set_plan(variable, as_initializer(value), is_local=is_local(variable))


def give_back(trace: KerasTrace) -> None:
    """Restores the backing variables of Keras variables from outside."""
    while trace.borrowed:
        variable, backing = trace.borrowed.pop()
        private_keras.set_tf_variable(variable, backing)
        if plan_of(variable) is not None:
            delattr(variable, _PLAN)


def move_to_local(graph: tf.Graph, variable: Any) -> None:
    """Moves a TensorFlow variable from the saved to the local ones, which each session initializes."""
    _unlist(graph, [variable])
    if not any(member is variable for member in graph.get_collection(_v1.GraphKeys.LOCAL_VARIABLES)):
        graph.add_to_collection(_v1.GraphKeys.LOCAL_VARIABLES, variable)


def _unlist_parts(graph: tf.Graph, backing: Any) -> None:
    """Removes the parts of a distributed variable from the saved and trained ones, where TensorFlow lists them."""
    parts = private_tf.parts_of(backing)
    if parts[0] is not backing:
        _unlist(graph, parts)


def _unlist(graph: tf.Graph, variables: Sequence[Any]) -> None:
    """Removes variables from the saved and the trained ones."""
    for key in (_v1.GraphKeys.GLOBAL_VARIABLES, _v1.GraphKeys.TRAINABLE_VARIABLES):
        members = graph.get_collection_ref(key)
        members[:] = [member for member in members if not any(member is one for one in variables)]


def _owner_path(variable: Any) -> str:
    return str(variable.path).rpartition("/")[0]


def _name_of(trace: KerasTrace, variable: Any) -> str:
    """The planned name, or the path of the innermost open layer that owns it and the rest of its Keras path."""
    plan = plan_of(variable)
    if plan is not None and plan.name is not None:
        return plan.name
    call = owner_call(trace, variable)
    if call is None:
        return str(variable.path)
    return f"{call.path}/{variable.path.removeprefix(private_keras.keras_path(call.layer) + '/')}"


def owner_call(trace: KerasTrace, variable: Any) -> OpenCall | None:
    """The innermost open call whose layer owns the variable, itself or through a layer it holds."""
    for call in reversed(trace.open_calls):
        if variable.path.startswith(f"{private_keras.keras_path(call.layer)}/"):
            return call
    return None


def _initial_value(trace: KerasTrace, variable: Any, name: str) -> Any:
    plan, dtype = plan_of(variable), private_keras.stored_dtype(variable)
    if plan is not None:
        return functools.partial(seeded(plan.initializer, trace.graph.seed, name), tuple(variable.shape), dtype=dtype)
    backing = private_keras.tf_variable_of(variable)
    if backing is None or graph_of(backing) is not None:
        raise ModelFnError(
            f"model_fn uses the Keras variable {variable.path!r}, which belongs to another graph; its value cannot be "
            "read here. Create the layer inside model_fn, or outside of any graph."
        )
    return functools.partial(fixed, outside_the_graph(backing.numpy), dtype)
