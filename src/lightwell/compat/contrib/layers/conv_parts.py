"""`conv2d_transpose`, `conv3d_transpose` and `separable_conv2d` of `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.arg_scope import add_arg_scope
from lightwell.compat.contrib.layers import windows
from lightwell.compat.contrib.layers.making import BIASES, RELU, WEIGHTS, making
from lightwell.errors import UsageError


@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: Callable[[Any], Any] | None = RELU,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = WEIGHTS,
    weights_regularizer: Any = None,
    biases_initializer: Any = BIASES,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution backwards: an image `stride` times as large.

    Its arguments are those of `conv2d`; its variables are `Conv2d_transpose/weights` and `biases`.
    """
    kind = "convolution2d_transpose"
    settings = {
        "trainable": trainable,
        "variables_collections": variables_collections,
        "outputs_collections": outputs_collections,
    }
    with making(kind, inputs, scope, "Conv2d_transpose", reuse=reuse, **settings) as one:
        values = tf.convert_to_tensor(one.inputs)
        form = windows.layout(data_format, 2, kind)
        window = windows.sizes(kernel_size, 2, "kernel_size", kind)
        strides = windows.sizes(stride, 2, "stride", kind)
        shape = [*window, int(num_outputs), windows.channels(values, form, kind)]
        weights = one.variable("weights", shape, values.dtype.base_dtype, weights_initializer, weights_regularizer)
        known, asked = _enlarged(values, form, window, strides, padding.upper(), int(num_outputs))
        outputs = tf.nn.conv2d_transpose(
            values, tf.convert_to_tensor(weights), asked, windows.spread(strides, form), padding.upper(), form
        )
        outputs.set_shape(known)
        outputs = one.with_biases(
            outputs,
            int(num_outputs),
            normalizer_fn,
            normalizer_params,
            biases_initializer,
            biases_regularizer,
            windows.bias_layout(form),
        )
        return one.finished(outputs, activation_fn)


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Callable[[Any], Any] | None = RELU,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = WEIGHTS,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = BIASES,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel by itself, and then one of all channels of a pixel.

    Its arguments are those of `conv2d`, and:

    Args:
        num_outputs: None to leave the second convolution out.
        depth_multiplier: how many channels the first makes of each.
        pointwise_initializer: for the second's weights; `weights_initializer` if None.
    """
    kind = "separable_convolution2d"
    settings = {
        "trainable": trainable,
        "variables_collections": variables_collections,
        "outputs_collections": outputs_collections,
    }
    with making(kind, inputs, scope, "SeparableConv2d", reuse=reuse, **settings) as one:
        values = tf.convert_to_tensor(one.inputs)
        dtype = values.dtype.base_dtype
        form = windows.layout(data_format, 2, kind)
        strides = windows.spread(windows.sizes(stride, 2, "stride", kind), form)
        rates = windows.sizes(rate, 2, "rate", kind)
        depth = windows.channels(values, form, kind)
        shape = [*windows.sizes(kernel_size, 2, "kernel_size", kind), depth, depth_multiplier]
        each = one.variable("depthwise_weights", shape, dtype, weights_initializer, weights_regularizer)
        if num_outputs is None:
            size = depth * depth_multiplier
            outputs = tf.nn.depthwise_conv2d(values, each, strides, padding.upper(), form, rates)
        else:
            size = int(num_outputs)
            mixing = one.variable(
                "pointwise_weights",
                [1, 1, depth * depth_multiplier, size],
                dtype,
                pointwise_initializer or weights_initializer,
                weights_regularizer,
            )
            outputs = tf.nn.separable_conv2d(
                values, each, tf.convert_to_tensor(mixing), strides, padding.upper(), form, rates
            )
        outputs = one.with_biases(
            outputs,
            size,
            normalizer_fn,
            normalizer_params,
            biases_initializer,
            biases_regularizer,
            windows.bias_layout(form),
        )
        return one.finished(outputs, activation_fn)


def _enlarged(values: Any, form: str, window: list[int], strides: list[int], padding: str, size: int) -> Any:
    """The shape of the result: as far as it is known, and as a tensor or list to ask for."""
    if padding not in ("SAME", "VALID"):
        raise UsageError(f"convolution2d_transpose: padding must be SAME or VALID, got {padding!r}.")
    known: list[int | None] = values.shape.as_list()
    running = tf.shape(values)
    asked: list[Any] = [running[axis] if length is None else length for axis, length in enumerate(known)]
    for place, axis in enumerate((form.index("H"), form.index("W"))):
        more = max(window[place] - strides[place], 0) if padding == "VALID" else 0
        asked[axis] = asked[axis] * strides[place] + more
        length = known[axis]
        known[axis] = None if length is None else length * strides[place] + more
    asked[form.index("C")] = known[form.index("C")] = size
    return known, tf.stack(asked)
