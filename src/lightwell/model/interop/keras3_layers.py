"""Keras 3 layers called in a `model_fn`: their variables, regularisers and losses.

Calls on symbolic inputs (`keras.Input`), which describe a model, and calls that infer shapes are left unchanged.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_keras, private_tf
from lightwell.foreign.patches import Patches
from lightwell.model.interop.layer_calls import follow_call, wrapped_init
from lightwell.model.interop.outside import eager_tensors_as_constants, lend_constants, raise_if_eager
from lightwell.model.interop.trace import KerasTrace, active_trace
from lightwell.model.interop.variables import ensure_created, name_of

_ASSIGNMENTS = frozenset(
    "AssignVariableOp AssignAddVariableOp AssignSubVariableOp ResourceScatterAdd ResourceScatterSub "
    "ResourceScatterUpdate ResourceScatterNdAdd ResourceScatterNdUpdate".split()
)


def patch_layers(keras: Any, patches: Patches) -> None:
    """Lets the layers of Keras 3 follow the active trace."""
    patches.wrap(keras.layers.Layer, "__call__", functools.partial(_wrapped_call, keras.KerasTensor))
    patches.wrap(keras.layers.Layer, "__init__", wrapped_init)
    patches.wrap(keras.layers.Layer, "add_loss", _wrapped_add_loss)


def _wrapped_call(symbolic: type, original: Any) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        trace = active_trace()
        if trace is None or private_keras.only_infers_shapes() or _is_symbolic(symbolic, args, kwargs):
            return original(self, *args, **kwargs)
        first = None if trace.open_calls or not trace.is_training else len(trace.graph.get_operations())
        outputs = follow_call(trace, self, args, kwargs, functools.partial(_run, trace, original, self))
        _penalise_weights(trace, self)
        if first is not None:
            _adopt_assignments(trace, first)
        return outputs

    return call


def _run(trace: KerasTrace, original: Any, layer: Any, /, *args: Any, **kwargs: Any) -> Any:
    if layer.built:
        _create_own(trace, layer)
    lend_constants(trace, _regularizers(layer))
    try:
        with eager_tensors_as_constants(layer):
            outputs = original(layer, *args, **kwargs)
    except (RuntimeError, ValueError) as error:
        raise_if_eager(error, layer)
        raise
    for weight in layer.weights:  # those that the call did not read
        ensure_created(trace, weight)
    _leave_out_frozen(trace, layer)
    return outputs


def _regularizers(layer: Any) -> list[Any]:
    regularizers = [layer.activity_regularizer, *(weight.regularizer for weight in layer.weights)]
    return [regularizer for regularizer in regularizers if regularizer is not None]


def _leave_out_frozen(trace: KerasTrace, layer: Any) -> None:
    """Removes the weights of a frozen layer from the trainable variables of the graph."""
    trainable = {id(weight) for weight in layer.trainable_weights}
    frozen = {id(private_keras.tf_variable_of(weight)) for weight in layer.weights if id(weight) not in trainable}
    if frozen:
        members = trace.graph.get_collection_ref(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)
        members[:] = [member for member in members if id(member) not in frozen]


def _create_own(trace: KerasTrace, layer: Any) -> None:
    """Creates the weights of a layer before those of its sublayers, whatever its call reads first."""
    for weight in layer.weights:
        if weight.path.rpartition("/")[0] == private_keras.keras_path(layer):
            ensure_created(trace, weight)


def _adopt_assignments(trace: KerasTrace, first: int) -> None:
    """Makes assignments to TensorFlow variables that a user's layer owns part of the step, like those of Keras' own."""
    created = trace.graph.get_operations()[first:]
    assignments = [operation for operation in created if operation.type in _ASSIGNMENTS]
    if not assignments:
        return
    keys = (tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, tf.compat.v1.GraphKeys.LOCAL_VARIABLES)
    known = [part for key in keys for one in trace.graph.get_collection(key) for part in private_tf.parts_of(one)]
    initial = {variable.initializer.name for variable in known}
    local = {operation.name for _, operation in trace.local_updates}
    for operation in assignments:
        if operation.name not in initial | local:
            trace.add_update(operation)


def _penalise_weights(trace: KerasTrace, layer: Any) -> None:
    """The regulariser of a weight counts once, however often its layer is called."""
    for weight in layer.trainable_weights:
        if weight.regularizer is not None and id(weight) not in trace.penalised:
            trace.penalised.add(id(weight))
            name = name_of(private_keras.tf_variable_of(weight))
            with tf.init_scope(), trace.graph.name_scope(f"{name}/Regularizer/"):
                trace.add_penalty(tf.convert_to_tensor(weight.regularizer(weight)))


def _wrapped_add_loss(original: Any) -> Any:
    @functools.wraps(original)
    def add_loss(self: Any, loss: Any) -> None:
        original(self, loss)
        trace = active_trace()
        if trace is not None and not private_keras.only_infers_shapes():
            for part in tf.nest.flatten(loss):
                trace.add_penalty(part)

    return add_loss


def _is_symbolic(symbolic: type, args: Any, kwargs: dict[str, Any]) -> bool:
    return any(isinstance(leaf, symbolic) for leaf in tf.nest.flatten((args, kwargs)))
