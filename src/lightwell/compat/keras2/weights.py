"""`add_weight` and `add_variable` of a layer, as Keras 2 called them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.compat.keras2.arguments import INITIAL_WEIGHTS, Set, plain
from lightwell.errors import UsageError
from lightwell.foreign import private_keras, private_keras2
from lightwell.model.interop.keras2_methods import named_weight_arguments

# What Keras 2 took and Keras 3 does not: all about how TensorFlow 1 placed a variable.
_OF_VARIABLES = ("partitioner", "use_resource", "collections", "getter", "caching_device", "experimental_autocast")
_AGGREGATIONS = {
    tf.VariableAggregation.NONE: "none",
    tf.VariableAggregation.SUM: "sum",
    tf.VariableAggregation.MEAN: "mean",
    tf.VariableAggregation.ONLY_FIRST_REPLICA: "only_first_replica",
}


def mend_weights(set_attribute: Set) -> None:
    """Let `add_weight` take the arguments of Keras 2, and start weights from `weights=[...]`."""
    layer = private_keras.keras3().layers.Layer
    add_weight = _taking_old_arguments(layer.add_weight)
    set_attribute(layer, "add_weight", add_weight)
    set_attribute(layer, "add_variable", add_weight)


def _taking_old_arguments(original: Any) -> Any:
    @functools.wraps(original)
    def add_weight(self: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = named_weight_arguments(args, kwargs)
        synchronization = kwargs.pop("synchronization", None)
        if synchronization == tf.VariableSynchronization.ON_READ:
            kwargs["trainable"] = False
        for argument in _OF_VARIABLES:
            kwargs.pop(argument, None)
        if kwargs.get("aggregation") in list(_AGGREGATIONS):
            kwargs["aggregation"] = _AGGREGATIONS[tf.VariableAggregation(kwargs["aggregation"])]
        if kwargs.get("trainable", True) is None:
            del kwargs["trainable"]
        kwargs = {key: value for key, value in kwargs.items() if key != "autocast" or value is not None}
        if "shape" in kwargs:
            kwargs["shape"] = _fixed_shape(kwargs["shape"])
        values = vars(self).get(INITIAL_WEIGHTS)
        if values:
            kwargs["initializer"] = _starting_from(self, values.pop(0), kwargs.get("name"))
        name = kwargs.get("name")
        if not isinstance(name, str) or "/" not in name:
            return original(self, *args, **kwargs)
        variable = original(self, *args, **{**kwargs, "name": name.replace("/", "_")})
        private_keras2.rename_variable(variable, name)
        return variable

    return add_weight


def _fixed_shape(shape: Any) -> Any:
    shape = plain(shape)
    if isinstance(shape, list | tuple):
        return tuple(plain(size) for size in shape)
    return shape if shape is None else (int(shape),)


def _starting_from(layer: Any, value: Any, name: Any) -> Any:
    """An initializer that returns one array of `weights=[...]`."""

    def start(shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if tuple(shape) != np.shape(value):
            raise UsageError(
                f"{type(layer).__name__}(weights=[...]): the weight {name!r} of the layer {layer.name!r} has the shape "
                f"{tuple(shape)}, and the array for it {np.shape(value)}. Pass arrays in the order of layer.weights."
            )
        return tf.cast(tf.constant(value), dtype or "float32")

    return start
