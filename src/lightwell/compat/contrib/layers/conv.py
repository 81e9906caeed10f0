"""Convolutions of `tf.contrib.layers`: `conv1d`, `conv2d`, `conv3d` and their longer names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.arg_scope import add_arg_scope
from lightwell.compat.contrib.layers import windows
from lightwell.compat.contrib.layers.making import BIASES, RELU, WEIGHTS, making
from lightwell.errors import UsageError


def convolved(
    kind: str,
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str | None,
    rate: Any,
    activation_fn: Callable[[Any], Any] | None,
    normalizer_fn: Callable[..., Any] | None,
    normalizer_params: Mapping[str, Any] | None,
    weights_initializer: Any,
    weights_regularizer: Any,
    biases_initializer: Any,
    biases_regularizer: Any,
    reuse: Any,
    variables_collections: Any,
    outputs_collections: Any,
    trainable: bool,
    scope: Any,
    conv_dims: int | None,
) -> Any:
    """One convolution over as many axes as the inputs have between the batch and the channels."""
    settings = {
        "trainable": trainable,
        "variables_collections": variables_collections,
        "outputs_collections": outputs_collections,
    }
    with making(kind, inputs, scope, "Conv", reuse=reuse, **settings) as one:
        values = tf.convert_to_tensor(one.inputs)
        axes = _spatial_axes(values, conv_dims, kind)
        form = windows.layout(data_format, axes, kind)
        strides = windows.sizes(stride, axes, "stride", kind)
        rates = windows.sizes(rate, axes, "rate", kind)
        if max(strides) > 1 and max(rates) > 1:
            raise UsageError(
                f"{kind}: strides > 1 not supported in conjunction with rates > 1; got stride {stride} and rate {rate}."
            )
        shape = [
            *windows.sizes(kernel_size, axes, "kernel_size", kind),
            windows.channels(values, form, kind),
            int(num_outputs),
        ]
        dtype = values.dtype.base_dtype
        weights = one.variable("weights", shape, dtype, weights_initializer, weights_regularizer)
        outputs = tf.nn.convolution(
            values,
            tf.convert_to_tensor(weights),
            strides,
            padding.upper(),
            data_format=form,
            dilations=rates,
            name=f"Conv{axes}D",
        )
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
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
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
    conv_dims: int | None = None,
) -> Any:
    """A convolution over one, two or three axes.

        net = tf.contrib.layers.conv2d(images, 32, [3, 3])                 # Conv/weights, Conv/biases

    Args:
        inputs: a tensor of a batch, one to three spatial axes, and channels, whose number must be known.
        num_outputs: the number of channels of the result.
        kernel_size: the size of the window: a number, or one per spatial axis.
        stride, rate: likewise; one of them must be 1.
        padding: `SAME` or `VALID`.
        data_format: `NHWC` or `NCHW` for images, with other letters for other ranks; channels last if None.
        activation_fn: applied to the result; None for none.
        normalizer_fn: applied in place of adding biases, `batch_norm` for example.
        normalizer_params: arguments for it.
        weights_initializer, biases_initializer: of the variables; no biases if the second is None.
        weights_regularizer, biases_regularizer: functions from a variable to a loss.
        reuse: whether to reuse the scope's variables.
        variables_collections: collections for the variables: a list, or a dict by variable.
        outputs_collections: collections for the result.
        trainable: whether the variables are trained.
        scope: the variable scope; if None, a unique scope called `Conv`.
        conv_dims: the number of spatial axes; that of the inputs if None.

    Raises:
        UsageError: settings do not fit each other or the inputs.
    """
    return convolved("convolution", **locals())


def _with_axes(name: str, axes: int) -> Callable[..., Any]:
    """The convolution over a set number of axes, under the name by which scopes know it."""

    def function(
        inputs: Any,
        num_outputs: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: str = "SAME",
        data_format: str | None = None,
        rate: Any = 1,
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
        given = {key: value for key, value in locals().items() if key not in ("axes", "name")}
        return convolved(name, conv_dims=axes, **given)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (convolution.__doc__ or "").replace("one, two or three axes", f"{axes} spatial axes")
    return add_arg_scope(function)


convolution1d = _with_axes("convolution1d", 1)
convolution2d = _with_axes("convolution2d", 2)
convolution3d = _with_axes("convolution3d", 3)


def _spatial_axes(values: Any, wanted: int | None, function: str) -> int:
    rank = values.shape.rank
    axes = None if rank is None else rank - 2
    if wanted is not None and axes != wanted:
        raise UsageError(
            f"{function}: Convolution expects input with rank {wanted + 2}, got {rank} (shape {values.shape})."
        )
    if axes not in (1, 2, 3):
        raise UsageError(
            f"{function}: Convolution not supported for input with rank {rank}; it takes a batch, one to "
            "three axes, and channels."
        )
    return int(axes)
