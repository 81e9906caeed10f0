"""Methods of Keras 2 that Keras 3 lacks, added while a `model_fn` runs.

TensorFlow's guides showed this use of Keras in an Estimator:

    optimizer.iterations = tf.compat.v1.train.get_or_create_global_step()
    losses = model.get_losses_for(None) + model.get_losses_for(features)
    updates = model.get_updates_for(None) + model.get_updates_for(features)
    train_op = optimizer.get_updates(loss, model.trainable_variables)[0]

And a user's layer passes the name of a weight first: `self.add_weight("kernel", shape=[3, 4])`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches
from lightwell.model.interop.optimizers import apply_keras_gradients, count_in, keras_train_op
from lightwell.model.interop.trace import active_trace
from lightwell.model.interop.variables import is_created

_OLD_ADD_WEIGHT = ("name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint")
"""The order of its arguments before Keras 3."""


def patch_keras2_methods(keras: Any, patches: Patches) -> None:
    """Adds methods of Keras 2 to the layers and optimizers of Keras 3."""
    layer, optimizer = keras.layers.Layer, keras.optimizers.Optimizer
    patches.put(layer, "updates", property(_updates))
    patches.put(layer, "get_updates_for", _get_updates_for)
    patches.put(layer, "get_losses_for", _get_losses_for)
    patches.wrap(layer, "add_weight", _wrapped_add_weight)
    if hasattr(optimizer, "iterations"):  # a plain attribute in early releases
        patches.put(optimizer, "iterations", property(optimizer.iterations.fget, _set_iterations))
    patches.put(optimizer, "get_updates", _get_updates)
    patches.put(optimizer, "minimize", _minimize)
    patches.wrap(optimizer, "apply_gradients", _wrapped_apply_gradients)


def _wrapped_add_weight(original: Any) -> Any:
    @functools.wraps(original)
    def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = named_weight_arguments(args, kwargs)
        return original(self, *args, **kwargs)

    return add_weight


def named_weight_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of `add_weight` by name, where Keras 2 passed the name of the weight first, or no shape."""
    if args and (args[0] is None or isinstance(args[0], str)):  # no shape: the name came first
        named = dict(zip(_OLD_ADD_WEIGHT, args, strict=False))
        return (), {**{key: value for key, value in named.items() if value is not None}, **kwargs}
    return args, kwargs


def _updates(layer: Any) -> list[Any]:
    trace = active_trace()
    if trace is None:
        return []
    return [update for update, layers in zip(trace.updates, trace.updaters, strict=True) if id(layer) in layers]


def _get_updates_for(layer: Any, inputs: Any) -> list[Any]:
    """All updates of Keras 3 layers come from calls, so `None` has none."""
    return [] if inputs is None else _updates(layer)


def _get_losses_for(layer: Any, inputs: Any) -> list[Any]:
    """For `None` the regularisation of weights, for inputs the losses that calls added."""
    weights = [weight for weight in layer.trainable_weights if weight.regularizer is not None]
    if inputs is None:
        return [weight.regularizer(weight) for weight in weights]
    return list(layer.losses[: len(layer.losses) - len(weights)])


def _set_iterations(optimizer: Any, variable: Any) -> None:
    if active_trace() is None:
        raise AttributeError("property 'iterations' has no setter")
    count_in(optimizer, variable)


def _get_updates(optimizer: Any, loss: Any, params: Any) -> list[Any]:
    """A list whose first operation makes the step."""
    trace = active_trace()
    return [] if trace is None else [keras_train_op(trace, optimizer, loss, params, None)]


def _minimize(optimizer: Any, loss: Any, var_list: Any = None, global_step: Any = None) -> Any:
    """The operation that makes a step and counts it: in `global_step`, or else in the graph's global step."""
    trace = active_trace()
    if trace is None:
        raise AttributeError(f"{type(optimizer).__name__!r} object has no attribute 'minimize'")
    if global_step is None and not _counts_already(optimizer):
        global_step = tf.compat.v1.train.get_global_step()
    return keras_train_op(trace, optimizer, loss, var_list, global_step)


def _counts_already(optimizer: Any) -> bool:
    trace = active_trace()
    return trace is not None and is_created(trace, private_keras.iterations(optimizer))


def _wrapped_apply_gradients(original: Any) -> Any:
    @functools.wraps(original)
    def apply_gradients(self: Any, grads_and_vars: Iterable[tuple[Any, Any]], *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is None or not trace.is_outside_functions:
            return original(self, grads_and_vars, *args, **kwargs)
        return apply_keras_gradients(trace, self, grads_and_vars)

    return apply_gradients
