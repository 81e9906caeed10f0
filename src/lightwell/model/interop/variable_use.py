"""Creation, reads and assignments of Keras 3 variables by Keras' own code while `model_fn` runs."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell.base.keys import OPTIMIZER_SCOPE
from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches
from lightwell.model.interop.trace import KerasTrace, active_trace
from lightwell.model.interop.variables import (
    as_initializer,
    ensure_created,
    is_created,
    is_local,
    is_session_state,
    own_part,
    owner_call,
    plan_of,
    set_plan,
    start_at,
)


def patch_variables(keras: Any, patches: Patches) -> None:
    """Lets the variables of Keras 3 follow the active trace."""
    variable = private_keras.variable_class(keras)
    patches.wrap(variable, "__init__", functools.partial(_wrapped_init, keras))
    patches.wrap(variable, private_keras.DEFERRED_INITIALIZE, _wrapped_deferred_initialize)
    patches.wrap(variable, "value", _wrapped_value)
    patches.wrap(variable, private_keras.DIRECT_ASSIGN, _wrapped_assign)
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
        with keras.StatelessScope():  # where Keras creates no TensorFlow variable
            original(self, initializer, shape, dtype, *args, **kwargs)
        set_plan(self, initializer, is_local=is_session_state(self))
        if trace.optimizer_being_built is not None:  # Nadam creates one that is trainable by default
            self.trainable = False
            name = f"{OPTIMIZER_SCOPE}{trace.optimizer_being_built}/{self.name}"
            set_plan(self, initializer, is_local=False, name=name)
        if not private_keras.only_infers_shapes() and owner_call(trace, self) is not None:
            ensure_created(trace, self)

    return init


def _wrapped_deferred_initialize(original: Any) -> Any:
    @functools.wraps(original)
    def deferred_initialize(self: Any) -> None:
        if active_trace() is None:
            original(self)

    return deferred_initialize


def _wrapped_value(value_property: property) -> property:
    original: Any = value_property.fget

    @functools.wraps(original)
    def value(self: Any) -> Any:
        trace = active_trace()
        if trace is None:
            return original(self)
        if private_keras.only_infers_shapes():
            return _read(self, original, None if is_created(trace, self) else _placeholder(self))
        ensure_created(trace, self)
        return _read(self, original, _latest(trace, self))

    return property(value)


def _placeholder(variable: Any) -> Any:
    return tf.zeros(tuple(variable.shape), private_keras.stored_dtype(variable))


def _read(variable: Any, original: Any, instead: Any) -> Any:
    """Keras' value of the variable, with its casts; read from `instead` if it is not None."""
    if instead is None:
        return original(variable)
    backing = private_keras.tf_variable_of(variable)
    private_keras.set_tf_variable(variable, instead)
    try:
        return original(variable)
    finally:
        private_keras.set_tf_variable(variable, backing)


def _latest(trace: KerasTrace, variable: Any) -> Any:
    """A read after the last assignment: Keras' code needs that order, and a graph does not keep it."""
    assignments = trace.assigned.get(id(variable))
    inside = trace.open_calls or is_local(variable)
    if not assignments or not inside or not trace.reads_in_order or not trace.is_outside_functions:
        return None
    with tf.control_dependencies(assignments[-1:]):
        return private_keras.tf_variable_of(variable).read_value()


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
    backing = private_keras.tf_variable_of(variable)
    operation = own_part(backing).assign(tf.cast(value, backing.dtype), read_value=False)
    trace.assigned.setdefault(id(variable), []).append(operation)
    if is_local(variable):
        trace.local_updates.append((backing, operation))
    else:
        trace.add_update(operation)


def _start_from(trace: KerasTrace, variable: Any, value: Any) -> None:
    """Makes a fixed value that is assigned outside of any layer (`load_weights`, `set_weights`) the initial value.

    An assignment in the graph would reset the variable in each step.
    """
    if is_created(trace, variable):
        backing = private_keras.tf_variable_of(variable)
        private_keras.replace_initializer(backing, backing.assign(tf.cast(value, backing.dtype), read_value=False))
        return
    start_at(trace, variable, tf.get_static_value(value))


def _wrapped_add_variable(original: Any) -> Any:
    @functools.wraps(original)
    def add_variable(self: Any, *args: Any, **kwargs: Any) -> Any:
        variable = original(self, *args, **kwargs)
        plan = plan_of(variable)
        if plan is not None:
            set_plan(variable, plan.initializer, is_local=True)
        return variable

    return add_variable
