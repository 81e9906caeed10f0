"""Optimizers of `tf.compat.v1.train` given Keras 3 variables: `minimize(loss, var_list=model.trainable_variables)`.

A v1 optimizer asks a variable for things that only a TensorFlow variable has; it gets the one behind Keras' variable.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell._patches import Patches
from lightwell.interop import doors
from lightwell.interop.trace import KerasTrace, active_trace
from lightwell.interop.variables import ensure_created


def patch_v1_optimizers(keras: Any, patches: Patches) -> None:
    """Lets v1 optimizers take the variables of Keras 3."""
    kind = doors.variable_class(keras)
    optimizer = tf.compat.v1.train.Optimizer
    patches.wrap(optimizer, "compute_gradients", functools.partial(_wrapped_compute_gradients, kind))
    patches.wrap(optimizer, "apply_gradients", functools.partial(_wrapped_apply_gradients, kind))


def _wrapped_compute_gradients(kind: type, original: Any) -> Any:
    @functools.wraps(original)
    def compute_gradients(self: Any, loss: Any, var_list: Any = None, *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is not None and var_list is not None:
            var_list = [_plain(trace, kind, variable) for variable in tf.nest.flatten(var_list)]
        return original(self, loss, var_list, *args, **kwargs)

    return compute_gradients


def _wrapped_apply_gradients(kind: type, original: Any) -> Any:
    @functools.wraps(original)
    def apply_gradients(self: Any, grads_and_vars: Iterable[tuple[Any, Any]], *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is not None:
            grads_and_vars = [(gradient, _plain(trace, kind, variable)) for gradient, variable in grads_and_vars]
        return original(self, grads_and_vars, *args, **kwargs)

    return apply_gradients


def _plain(trace: KerasTrace, kind: type, variable: Any) -> Any:
    if not isinstance(variable, kind):
        return variable
    ensure_created(trace, variable)
    return doors.held_value(variable)
