"""Layers of `tf_keras`, the Keras before version 3, called in a `model_fn`.

They name their variables as TensorFlow 2.15 did and count names per graph. Their `Input` is a placeholder of the
graph: a call on it, or on tensors computed from it, describes a model, and its updates and losses could never run.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import tensorflow as tf

from lightwell.errors import ModelFnError
from lightwell.foreign import private_keras
from lightwell.foreign.patches import Patches
from lightwell.model.interop.gradients import derived
from lightwell.model.interop.initial_values import seeded
from lightwell.model.interop.layer_calls import follow_call, wrapped_init
from lightwell.model.interop.trace import KerasTrace, active_trace
from lightwell.model.interop.variables import move_to_local


def patch_legacy_layers(keras: Any, patches: Patches) -> None:
    """Lets the layers of `tf_keras` follow the active trace."""
    for kind in private_keras.legacy_layer_classes(keras):
        patches.wrap(kind, "__init__", wrapped_init)
        patches.wrap(kind, "__call__", _wrapped_call)
        patches.wrap(kind, "add_weight", functools.partial(_wrapped_add_weight, keras))
        patches.wrap(kind, "add_update", _wrapped_add_update)
        patches.wrap(kind, "add_loss", _wrapped_add_loss)


def keep_legacy_classes(keras: Any, patches: Patches) -> None:
    """Restores the base classes of layers and models once no thread builds a model.

    `tf_keras` gives the class of a layer created in a graph another base, with which the program's eager objects of the
    class do not work. Layers of other threads that are building in a graph need that base until they are done.
    """
    for kind in {kind for base in private_keras.legacy_layer_classes(keras) for kind in derived(base)}:
        patches.preserve(kind, "__bases__")


def _wrapped_call(original: Any) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is None:
            return original(self, *args, **kwargs)
        if _is_symbolic(trace, args, kwargs):
            return _describe(trace, original, self, args, kwargs)
        _check_graph(trace, self)
        return follow_call(trace, self, args, kwargs, functools.partial(original, self), by_value=False)

    return call


def _describe(trace: KerasTrace, original: Any, layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    with trace.describing():
        outputs = original(layer, *args, **kwargs)
    trace.symbolic.update(leaf.name for leaf in tf.nest.flatten(outputs) if tf.is_tensor(leaf))
    return outputs


def _is_symbolic(trace: KerasTrace, args: Any, kwargs: dict[str, Any]) -> bool:
    return any(_describes(trace, leaf) for leaf in tf.nest.flatten((args, kwargs)) if tf.is_tensor(leaf))


def _describes(trace: KerasTrace, tensor: Any) -> bool:
    if getattr(tensor, "name", None) in trace.symbolic:
        return True
    history = private_keras.legacy_history(tensor)
    return history is not None and bool(getattr(history.layer, "is_placeholder", False))


def _check_graph(trace: KerasTrace, layer: Any) -> None:
    weights = layer.weights if layer.built else []
    if any(getattr(weight.handle, "graph", None) is not trace.graph for weight in weights):
        raise ModelFnError(
            f"model_fn called the {type(layer).__name__} layer {layer.name!r} of tf_keras, whose variables were made "
            "outside of this call of model_fn. Create the layer inside model_fn; only layers of Keras 3 may come from "
            "outside."
        )


def _wrapped_add_weight(keras: Any, original: Any) -> Any:
    parameters = list(inspect.signature(original).parameters)
    place = parameters.index("initializer") - 1  # without self

    @functools.wraps(original)
    def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        initializer = args[place] if place < len(args) else kwargs.get("initializer")
        if trace is None or initializer is None or place < len(args):
            return original(self, *args, **kwargs)
        name = f"{self.name}/{args[0] if args else kwargs.get('name')}"
        kwargs["initializer"] = seeded(keras.initializers.get(initializer), trace.graph.seed, name)
        return original(self, *args, **kwargs)

    return add_weight


def _wrapped_add_update(original: Any) -> Any:
    @functools.wraps(original)
    def add_update(self: Any, *args: Any, **kwargs: Any) -> None:
        trace = active_trace()
        known = len(private_keras.legacy_updates(self))
        original(self, *args, **kwargs)
        if trace is not None and not trace.doing.is_describing:
            for update in private_keras.legacy_updates(self)[known:]:
                _add_update(trace, self, update)

    return add_update


def _add_update(trace: KerasTrace, layer: Any, update: Any) -> None:
    if not trace.holds(update):
        return
    if not hasattr(layer, "update_state"):
        trace.add_update(update)
        return
    for variable in layer.variables:  # a metric is a layer too; each session initializes its variables
        move_to_local(trace.graph, variable)
    trace.local_updates.append((layer.variables[0], update))


def _wrapped_add_loss(original: Any) -> Any:
    @functools.wraps(original)
    def add_loss(self: Any, losses: Any, *args: Any, **kwargs: Any) -> None:
        original(self, losses, *args, **kwargs)
        trace = active_trace()
        if trace is not None:
            for loss in tf.nest.flatten(losses):
                _add_loss(trace, loss)

    return add_loss


def _add_loss(trace: KerasTrace, loss: Any) -> None:
    if callable(loss):  # the regulariser of a weight, added once when the weight is created
        with tf.init_scope():
            trace.add_penalty(loss())
    elif not trace.doing.is_describing:
        trace.add_penalty(loss)
