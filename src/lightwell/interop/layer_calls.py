"""Keras 3 layers called in a `model_fn`: which mode they run in, what they leave in the graph, and the book of layers.

Takes calls on real tensors only. Calls on symbolic inputs (`keras.Input`) describe a model and compute nothing; calls
that Keras makes to learn shapes are its own business.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import tensorflow as tf

from lightwell.interop import doors
from lightwell.interop.outside import eager_tensors_as_constants, raise_if_eager
from lightwell.interop.patches import Patches
from lightwell.interop.trace import KerasTrace, OpenCall, active_trace
from lightwell.interop.variables import ensure_created
from lightwell.layers.record import record_call


def patch_layers(keras: Any, patches: Patches) -> None:
    """Lets the layers of Keras 3 follow the active trace."""
    patches.wrap(keras.layers.Layer, "__call__", functools.partial(_wrapped_call, keras.KerasTensor))
    patches.wrap(keras.layers.Layer, "__init__", _wrapped_init)
    patches.wrap(keras.layers.Layer, "add_loss", _wrapped_add_loss)


def _wrapped_init(original: Any) -> Any:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        trace = active_trace()
        if trace is not None:
            trace.names.made_here.add(id(self))
        original(self, *args, **kwargs)

    return init


def _wrapped_call(symbolic: type, original: Any) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is None or doors.only_infers_shapes() or _is_symbolic(symbolic, args, kwargs):
            return original(self, *args, **kwargs)
        return _call(trace, original, self, args, kwargs)

    return call


def _call(trace: KerasTrace, original: Any, layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    around = trace.open_calls[-1] if trace.open_calls else None
    path = trace.names.path_of(layer, around.layer if around else None)
    training = _given_training(layer, args, kwargs)
    if training is None:
        training = around.training if around else trace.is_training
        if "training" in _parameters(layer):
            kwargs = {**kwargs, "training": training}
    trace.open_calls.append(OpenCall(layer, path, training, _calls_in_a_loop(layer) or bool(around and around.in_loop)))
    try:
        with eager_tensors_as_constants(layer):
            outputs = original(layer, *args, **kwargs)
        for weight in layer.weights:
            ensure_created(trace, weight)
    except RuntimeError as error:
        raise_if_eager(error, layer)
        raise
    finally:
        trace.open_calls.pop()
    _penalise_weights(trace, layer, path)
    if not (around and around.in_loop):
        _record(trace, layer, path, args, kwargs, outputs)
    return outputs


def _calls_in_a_loop(layer: Any) -> bool:
    """Whether a recurrent layer runs its cell in a loop; Keras calls the cell once outside of it, to learn shapes."""
    return hasattr(layer, "cell") and not getattr(layer, "unroll", False)


def _parameters(layer: Any) -> Any:
    return inspect.signature(layer.call).parameters


def _given_training(layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if "training" in kwargs:
        return kwargs["training"]
    place = list(_parameters(layer)).index("training") if "training" in _parameters(layer) else len(args)
    return args[place] if place < len(args) else None


def _penalise_weights(trace: KerasTrace, layer: Any, path: str) -> None:
    """The regulariser of a weight counts once, however often its layer is called."""
    for weight in layer.trainable_weights:
        if weight.regularizer is not None and id(weight) not in trace.penalised:
            trace.penalised.add(id(weight))
            with tf.init_scope(), trace.graph.name_scope(f"{path}/Regularizer/"):
                trace.add_penalty(tf.convert_to_tensor(weight.regularizer(weight)))


def _record(trace: KerasTrace, layer: Any, path: str, args: Any, kwargs: dict[str, Any], outputs: Any) -> None:
    leaves = tf.nest.flatten(outputs, expand_composites=True)
    if not leaves or not all(trace.holds(leaf) for leaf in leaves):
        return
    given = [*args, *(value for value in kwargs.values() if _has_tensor(value))]
    record_call(
        name=path,
        kind=type(layer).__name__,
        inputs=given[0] if len(given) == 1 else tuple(given),
        outputs=outputs,
        variables=[doors.held_value(weight) for weight in layer.weights],
        layer=layer,
    )


def _wrapped_add_loss(original: Any) -> Any:
    @functools.wraps(original)
    def add_loss(self: Any, loss: Any) -> None:
        original(self, loss)
        trace = active_trace()
        if trace is not None and not doors.only_infers_shapes():
            for part in tf.nest.flatten(loss):
                trace.add_penalty(part)

    return add_loss


def _is_symbolic(symbolic: type, args: Any, kwargs: dict[str, Any]) -> bool:
    return any(isinstance(leaf, symbolic) for leaf in tf.nest.flatten((args, kwargs)))


def _has_tensor(value: Any) -> bool:
    return any(tf.is_tensor(leaf) for leaf in tf.nest.flatten(value))
