"""The Keras 3 layer for each layer of `lightwell.layers` (`tf.compat.v1.layers`), with the same settings.

Where Keras has no layer (batch renormalization, several axes, an activation of the user) the result is None, and the
ops of the layer are converted one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.model import layers
from lightwell.model.layers.record import LayerCall

_HALF = ("float16", "bfloat16")
_FUNCTIONS = ("kernel", "bias", "depthwise", "pointwise", "gamma", "beta")


def keras_layer_for(call: LayerCall) -> Any:
    """A new Keras layer that computes what the called layer does; None if there is none."""
    settings = _TABLE.get(type(call.layer))
    if settings is None or _is_partitioned(call):
        return None
    arguments = settings(call.layer, call.inputs)
    if arguments is None:
        return None
    layer_class = getattr(keras.layers, type(call.layer).__name__)
    return layer_class(**arguments, dtype=call.layer.dtype, trainable=call.layer.trainable)


def settings_of(layer: Any) -> tuple[Any, ...]:
    """The settings in which two layers with the same variables may differ."""
    plain = (bool, int, float, str, tuple, type(None))
    own = {key: value for key, value in vars(layer).items() if not key.startswith("_") and isinstance(value, plain)}
    return type(layer), tuple(sorted(own.items(), key=str)), getattr(layer, "activation", None)


def _dense(layer: Any, inputs: Any) -> dict[str, Any] | None:
    return _with_activation(layer, {"units": layer.units, "use_bias": layer.use_bias})


def _conv(layer: Any, inputs: Any) -> dict[str, Any] | None:
    if inputs.shape.rank != layer.rank + 2:
        return None
    own = ("filters", "kernel_size", "strides", "padding", "data_format", "use_bias")
    return _with_activation(layer, {key: getattr(layer, key) for key in own} | _dilation(layer))


def _separable(layer: Any, inputs: Any) -> dict[str, Any] | None:
    settings = _conv(layer, inputs)
    return None if settings is None else {**settings, "depth_multiplier": layer.depth_multiplier}


def _dilation(layer: Any) -> dict[str, Any]:
    is_plain = all(rate == 1 for rate in layer.dilation_rate)
    return {} if is_plain else {"dilation_rate": layer.dilation_rate}


def _pooling(layer: Any, inputs: Any) -> dict[str, Any]:
    return {key: getattr(layer, key) for key in ("pool_size", "strides", "padding", "data_format")}


def _flatten(layer: Any, inputs: Any) -> dict[str, Any]:
    return {"data_format": layer.data_format}


def _dropout(layer: Any, inputs: Any) -> dict[str, Any] | None:
    rate = tf.get_static_value(layer.rate) if tf.is_tensor(layer.rate) else layer.rate
    if rate is None or tf.is_tensor(layer.noise_shape):
        return None
    shape = None if layer.noise_shape is None else tuple(layer.noise_shape)
    return {"rate": float(rate), "noise_shape": shape, "seed": layer.seed}


def _batch_normalization(layer: Any, inputs: Any) -> dict[str, Any] | None:
    is_plain = not layer.renorm and layer.virtual_batch_size is None and layer.adjustment is None
    if not is_plain or len(layer.axis) != 1 or layer.dtype in _HALF:
        return None
    own = ("momentum", "epsilon", "center", "scale")
    return {"axis": layer.axis[0], **{key: getattr(layer, key) for key in own}, **_rules(layer)}


def _with_activation(layer: Any, settings: dict[str, Any]) -> dict[str, Any] | None:
    """The settings with the activation, regularizers and constraints."""
    if layer.activation is None:
        return {**settings, **_rules(layer)}
    function = _activation(layer.activation)
    return None if function is None else {**settings, "activation": function, **_rules(layer)}


def _activation(function: Callable[..., Any]) -> Any:
    """Keras' function for one of TensorFlow's; Keras' own, and those that it can save, are themselves."""
    known = {
        tf.nn.elu: "elu", tf.nn.gelu: "gelu", tf.nn.leaky_relu: "leaky_relu", tf.nn.log_softmax: "log_softmax",
        tf.nn.relu: "relu", tf.nn.relu6: "relu6", tf.nn.selu: "selu", tf.nn.sigmoid: "sigmoid", tf.nn.silu: "silu",
        tf.nn.softmax: "softmax", tf.nn.softplus: "softplus", tf.nn.softsign: "softsign", tf.nn.tanh: "tanh",
        tf.exp: "exponential", tf.compat.v1.nn.softmax: "softmax", tf.compat.v1.nn.log_softmax: "log_softmax",
    }  # fmt: skip
    if function in known:
        return known[function]
    if getattr(function, "__module__", "").partition(".")[0] == "keras":
        return function
    return None


def _rules(layer: Any) -> dict[str, Any]:
    """Regularizers and constraints of Keras' own, which matter when the model is trained on."""
    kinds = {"regularizer": keras.regularizers.Regularizer, "constraint": keras.constraints.Constraint}
    rules = {}
    for part in _FUNCTIONS:
        for kind, cls in kinds.items():
            rule = getattr(layer, f"{part}_{kind}", None)
            if isinstance(rule, cls):
                rules[f"{part}_{kind}"] = rule
            elif rule is not None:
                logger.info("to_keras: %s_%s of layer %r is not one of Keras', and left out.", part, kind, layer.name)
    return rules


def _is_partitioned(call: LayerCall) -> bool:
    return len(call.variables) != len(call.layer._variables)


_TABLE: dict[type, Callable[[Any, Any], dict[str, Any] | None]] = {
    layers.Dense: _dense,
    layers.Dropout: _dropout,
    layers.Flatten: _flatten,
    layers.BatchNormalization: _batch_normalization,
    **dict.fromkeys((layers.SeparableConv1D, layers.SeparableConv2D), _separable),
    **dict.fromkeys(
        (layers.Conv1D, layers.Conv2D, layers.Conv3D, layers.Conv2DTranspose, layers.Conv3DTranspose), _conv
    ),
    **dict.fromkeys((layers.MaxPooling1D, layers.MaxPooling2D, layers.MaxPooling3D), _pooling),
    **dict.fromkeys((layers.AveragePooling1D, layers.AveragePooling2D, layers.AveragePooling3D), _pooling),
}
