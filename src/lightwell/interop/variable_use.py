"""Keras 3 variables as Keras' own code uses them: making, reading and assigning them while `model_fn` runs."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell._patches import Patches
from lightwell.interop import doors
from lightwell.interop.trace import KerasTrace, active_trace
from lightwell.interop.variables import (
    as_initializer,
    ensure_created,
    is_created,
    is_local,
    is_session_state,
    origin_of,
    own_part,
    owner_call,
    set_origin,
    start_at,
)
from lightwell.keys import OPTIMIZER_SCOPE


def patch_variables(keras: Any, patches: Patches) -> None:
    """Lets the variables of Keras 3 follow the active trace."""
    variable = doors.variable_class(keras)
    patches.wrap(variable, "__init__", functools.partial(_wrapped_init, keras))
    patches.wrap(variable, doors.DEFERRED_INITIALIZE, _wrapped_deferred_initialize)
    patches.wrap(variable, "value", _wrapped_value)
    patches.wrap(variable, doors.DIRECT_ASSIGN, _wrapped_assign)
    patches.wrap(keras.metrics.Metric, "add_variable", _wrapped_add_variable)


def _wrapped_init(keras: Any, original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, initializer: Any, shape: Any = None, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        trace = active_trace()
        if trace is None or isinstance(initializer, tf.Variable):
            original(self, initializer, shape, dtype, *args, **kwargs)
            return
        if isinstance(initializer, str):
            initializer = keras.initializers.get(initializer)
        if not callable(initializer):
            tensor = keras.ops.convert_to_tensor(initializer, dtype=dtype)
            shape, dtype = tensor.shape, dtype or tensor.dtype
            initializer = as_initializer(initializer)
        with keras.StatelessScope():  # where Keras makes no TensorFlow variable
            original(self, initializer, shape, dtype, *args, **kwargs)
        set_origin(self, initializer, is_local=is_session_state(self))
        if trace.optimizer_being_built is not None:  # Nadam makes one that Keras would call trainable
            self.trainable = False
            name = f"{OPTIMIZER_SCOPE}{trace.optimizer_being_built}/{self.name}"
            set_origin(self, initializer, is_local=False, name=name)
        if not doors.only_infers_shapes() and owner_call(trace, self) is not None:
            ensure_created(trace, self)

    return init


def _wrapped_deferred_initialize(original: Any) -> Any:
    @functools.wraps(original)
    def deferred_initialize(self: Any) -> None:
        if active_trace() is None:
            original(self)

    return deferred_initialize


def _wrapped_value(held: property) -> property:
    original: Any = held.fget

    @functools.wraps(original)
    def value(self: Any) -> Any:
        trace = active_trace()
        if trace is None:
            return original(self)
        if doors.only_infers_shapes():
            return _read(self, original, None if is_created(trace, self) else _placeholder(self))
        ensure_created(trace, self)
        return _read(self, original, _latest(trace, self))

    return property(value)


def _placeholder(variable: Any) -> Any:
    return tf.zeros(tuple(variable.shape), doors.stored_dtype(variable))


def _read(variable: Any, original: Any, instead: Any) -> Any:
    """What Keras makes of the held value, its casts included; `instead` stands in for it where given."""
    if instead is None:
        return original(variable)
    held = doors.held_value(variable)
    doors.hold_value(variable, instead)
    try:
        return original(variable)
    finally:
        doors.hold_value(variable, held)


def _latest(trace: KerasTrace, variable: Any) -> Any:
    """A read that follows the last assignment: a graph orders the two as it likes, and Keras' code counts on it."""
    assignments = trace.assigned.get(id(variable))
    inside = trace.open_calls or is_local(variable)
    if not assignments or not inside or not trace.reads_in_order or not trace.is_outside_functions:
        return None
    with tf.control_dependencies(assignments[-1:]):
        return doors.held_value(variable).read_value()


def _wrapped_assign(original: Any) -> Any:
    @functools.wraps(original)
    def direct_assign(self: Any, value: Any) -> None:
        trace = active_trace()
        if trace is None:
            original(self, value)
        elif _is_first_value(trace, self, value):
            _start_from(trace, self, value)
        else:
            _assign(trace, self, value, original)

    return direct_assign


def _is_first_value(trace: KerasTrace, variable: Any, value: Any) -> bool:
    outside = not trace.open_calls and trace.is_outside_functions
    return outside and id(variable) not in trace.assigned and tf.get_static_value(value) is not None


def _assign(trace: KerasTrace, variable: Any, value: Any, original: Any) -> None:
    ensure_created(trace, variable)
    if not trace.is_outside_functions:  # the function runs its assignments itself, in order
        original(variable, value)
        return
    held = doors.held_value(variable)
    operation = own_part(held).assign(tf.cast(value, held.dtype), read_value=False)
    trace.assigned.setdefault(id(variable), []).append(operation)
    if is_local(variable):
        trace.local_updates.append((held, operation))
    else:
        trace.add_update(operation)


def _start_from(trace: KerasTrace, variable: Any, value: Any) -> None:
    """A fixed value given outside of any layer (`load_weights`, `set_weights`) is where the variable starts.

    As an operation of the graph it would set the variable back in each step.
    """
    if is_created(trace, variable):
        held = doors.held_value(variable)
        doors.replace_initializer(held, held.assign(tf.cast(value, held.dtype), read_value=False))
        return
    start_at(trace, variable, tf.get_static_value(value))


def _wrapped_add_variable(original: Any) -> Any:
    @functools.wraps(original)
    def add_variable(self: Any, *args: Any, **kwargs: Any) -> Any:
        variable = original(self, *args, **kwargs)
        origin = origin_of(variable)
        if origin is not None:
            set_origin(variable, origin.initializer, is_local=True)
        return variable

    return add_variable
