"""Keras 3 variables in a model's graph: created at first use, under the path of their layer.

Keras names a variable before it knows which model its layer ends up in, and a layer may be older than the graph. So a
Keras variable made while `model_fn` runs stays without a TensorFlow variable until a layer works with it on real
tensors; one that comes from outside (eager, or another graph) gets a stand-in in this graph.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell import _tf
from lightwell.errors import ModelFnError
from lightwell.interop import doors
from lightwell.interop.initial_values import fixed, outside_the_graph, seeded
from lightwell.interop.trace import KerasTrace, OpenCall
from lightwell.layers.per_graph import replica_number

_v1 = tf.compat.v1
_ORIGIN = "_lightwell_origin"


@dataclass(frozen=True, eq=False)
class Origin:
    """How a Keras variable that was made in a `model_fn` starts.

    Attributes:
        initializer: called with shape and dtype.
        is_local: whether each session starts it anew, instead of restoring it from the checkpoint.
        name: its name in the graph, where that is not the path of its layer.
    """

    initializer: Any
    is_local: bool
    name: str | None = None


def origin_of(variable: Any) -> Origin | None:
    """How the variable starts; None for one that was made outside of any `model_fn`."""
    return getattr(variable, _ORIGIN, None)


def set_origin(variable: Any, initializer: Any, *, is_local: bool, name: str | None = None) -> None:
    """Decides how the variable starts when it is created."""
    setattr(variable, _ORIGIN, Origin(initializer, is_local, name))


def as_initializer(value: Any, dtype: Any = None) -> Any:
    """An initializer that gives one value, a tensor of this graph or an array."""
    if tf.is_tensor(value):
        return lambda shape, dtype=dtype: tf.cast(value, dtype)
    array = np.asarray(value)
    return lambda shape, dtype=dtype: fixed(array, dtype)


def tf_variable(variable: Any) -> Any:
    """The TensorFlow variable behind a Keras 3 variable, if it is created; a legacy Keras variable is one already."""
    return variable if isinstance(variable, tf.Variable) else doors.held_value(variable)


def is_local(variable: Any) -> bool:
    """Whether each session starts the variable anew: so do the variables of metrics."""
    origin = origin_of(variable)
    return origin.is_local if origin is not None else is_session_state(variable)


def is_session_state(variable: Any) -> bool:
    """Whether it is a metric's variable, or the state that a stateful recurrent layer carries to the next batch."""
    return getattr(variable, "synchronization", None) == "on_read" or variable.name == "rnn_state"


def graph_of(held: Any) -> Any:
    """The graph of a TensorFlow variable; None for an eager one."""
    return getattr(_tf.parts_of(held)[0].handle, "graph", None)


def name_of(held: Any) -> str:
    """The name of a TensorFlow variable in checkpoints, the same in every replica."""
    return _tf.variable_name(held)


def own_part(held: Any) -> Any:
    """What the replica that is built now has of a TensorFlow variable; the variable itself where it is one for all."""
    parts = _tf.parts_of(held)
    return parts[replica_number() if len(parts) > 1 else 0]


def is_created(trace: KerasTrace, variable: Any) -> bool:
    """Whether the Keras variable stands for a TensorFlow variable of this graph."""
    held = doors.held_value(variable)
    return held is not None and graph_of(held) is trace.graph


def ensure_created(trace: KerasTrace, variable: Any) -> None:
    """Sees to it that the Keras variable stands for a TensorFlow variable of this graph.

    Those of the same owner come with it, in the order in which the layer made them.
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
    if origin_of(variable) is None:
        trace.borrowed.append((variable, doors.held_value(variable)))
    scope, _, leaf = name.rpartition("/")
    place = trace.graph.name_scope(f"{scope}/" if scope else None)
    settings = {"name": leaf, **_over_replicas(trace, variable)}
    named = tf.variable_creator_scope(lambda make, **kwargs: make(**{**kwargs, **settings}))
    with tf.init_scope(), place, named:
        doors.create_value(variable, initial_value)
    held = doors.held_value(variable)
    _leave_to_the_whole(trace.graph, held)
    trace.created[id(held)] = (held, variable)
    if is_local(variable):
        move_to_local(trace.graph, held)
    else:
        _remember_old_name(trace, variable, name)
    return held


def _over_replicas(trace: KerasTrace, variable: Any) -> dict[str, Any]:
    """How the replicas of a strategy share a variable: what each counts or averages for itself is joined when read."""
    if tf.distribute.get_strategy().num_replicas_in_sync == 1 or (variable.trainable and not is_local(variable)):
        return {}
    if is_local(variable) and owner_call(trace, variable) is None:
        how = tf.VariableAggregation.SUM
    elif owner_call(trace, variable) is None:  # an optimizer's, which are the same everywhere
        return {}
    else:
        is_average = tf.as_dtype(doors.stored_dtype(variable)).is_floating
        how = tf.VariableAggregation.MEAN if is_average else tf.VariableAggregation.ONLY_FIRST_REPLICA
    return {"trainable": False, "synchronization": tf.VariableSynchronization.ON_READ, "aggregation": how}


def start_at(trace: KerasTrace, variable: Any, value: Any) -> None:
    """Makes an array the value that a Keras variable starts from in this graph, in which it is not created yet."""
    if origin_of(variable) is None:
        trace.borrowed.append((variable, doors.held_value(variable)))
    set_origin(variable, as_initializer(value), is_local=is_local(variable))


def give_back(trace: KerasTrace) -> None:
    """Lets the variables that came from outside stand for their own values again."""
    while trace.borrowed:
        variable, held = trace.borrowed.pop()
        doors.hold_value(variable, held)
        if origin_of(variable) is not None:
            delattr(variable, _ORIGIN)


def move_to_local(graph: tf.Graph, variable: Any) -> None:
    """Takes a TensorFlow variable out of the saved ones: it starts anew in each session."""
    _take_out(graph, [variable])
    if not any(member is variable for member in graph.get_collection(_v1.GraphKeys.LOCAL_VARIABLES)):
        graph.add_to_collection(_v1.GraphKeys.LOCAL_VARIABLES, variable)


def _leave_to_the_whole(graph: tf.Graph, held: Any) -> None:
    """What each replica has of a variable is neither saved nor trained by itself; TensorFlow lists it all the same."""
    parts = _tf.parts_of(held)
    if parts[0] is not held:
        _take_out(graph, parts)


def _take_out(graph: tf.Graph, variables: Sequence[Any]) -> None:
    """Takes variables out of the saved and the trained ones."""
    for key in (_v1.GraphKeys.GLOBAL_VARIABLES, _v1.GraphKeys.TRAINABLE_VARIABLES):
        members = graph.get_collection_ref(key)
        members[:] = [member for member in members if not any(member is one for one in variables)]


def _owner_path(variable: Any) -> str:
    return str(variable.path).rpartition("/")[0]


def _name_of(trace: KerasTrace, variable: Any) -> str:
    """A name decided before, or: the path of the innermost open layer that owns it, and the rest of Keras' own path."""
    origin = origin_of(variable)
    if origin is not None and origin.name is not None:
        return origin.name
    call = owner_call(trace, variable)
    if call is None:
        return str(variable.path)
    return f"{call.path}/{variable.path.removeprefix(doors.keras_path(call.layer) + '/')}"


def owner_call(trace: KerasTrace, variable: Any) -> OpenCall | None:
    """The innermost open call whose layer owns the variable, itself or through a layer it holds."""
    for call in reversed(trace.open_calls):
        if variable.path.startswith(f"{doors.keras_path(call.layer)}/"):
            return call
    return None


def _initial_value(trace: KerasTrace, variable: Any, name: str) -> Any:
    origin, dtype = origin_of(variable), doors.stored_dtype(variable)
    if origin is not None:
        return functools.partial(seeded(origin.initializer, trace.graph.seed, name), tuple(variable.shape), dtype=dtype)
    held = doors.held_value(variable)
    if held is None or graph_of(held) is not None:
        raise ModelFnError(
            f"model_fn uses the Keras variable {variable.path!r}, which belongs to another graph; its value cannot be "
            "read here. Create the layer inside model_fn, or outside of any graph."
        )
    return functools.partial(fixed, outside_the_graph(held.numpy), dtype)


def _remember_old_name(trace: KerasTrace, variable: Any, name: str) -> None:
    """TensorFlow 2.15 named a functional model's variables without the model."""
    scope = trace.open_calls[0].path.rpartition("/")[0] if trace.open_calls else ""
    old = f"{scope}/{variable.path}" if scope else str(variable.path)
    if old != name:
        trace.old_names[name] = old
