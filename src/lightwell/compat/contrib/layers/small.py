"""Layers of `tf.contrib.layers` that need a few lines each: `flatten`, `dropout`, `bias_add`, `stack` and others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.arg_scope import add_arg_scope
from lightwell.compat.contrib.layers.making import making, naming
from lightwell.errors import UsageError
from lightwell.model.layers.settings import static_truth

_ZEROS: Any = tf.compat.v1.zeros_initializer()


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """All axes but the first as one."""
    with naming("flatten", inputs, scope, "Flatten", outputs_collections=outputs_collections) as one:
        values = tf.convert_to_tensor(one.inputs)
        if values.shape.rank is None or values.shape.rank < 1:
            raise UsageError(f"flatten: the inputs must have a known rank of at least 1, got shape {values.shape}.")
        size = values.shape[1:].num_elements()
        with tf.name_scope("flatten"):
            if size is None:
                outputs = tf.reshape(values, [tf.shape(values)[0], -1])
            else:
                rows = values.shape.as_list()[0]  # a list: in a program of TensorFlow 1, `shape[0]` is a Dimension
                outputs = tf.reshape(values, [-1 if rows is None else rows, size])
        return one.finished(outputs)


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """Keeps each number with the probability `keep_prob`, divided by it, and sets the others to zero, while training.

    Args:
        inputs: a tensor.
        keep_prob: a number or a scalar tensor.
        noise_shape: the shape of the random mask; axes of size 1 are dropped as a whole.
        is_training: whether to drop: a bool, or a scalar tensor.
        outputs_collections: collections for the result.
        scope: the name scope; if None, a unique scope called `Dropout`.
        seed: for the draws.
    """
    settings = {"outputs_collections": outputs_collections}
    with making("dropout", inputs, scope, "Dropout", **settings) as one:
        values = tf.convert_to_tensor(one.inputs)
        truth = static_truth(is_training, "is_training", "dropout")

        def dropped() -> Any:
            return tf.nn.dropout(values, rate=1.0 - keep_prob, noise_shape=noise_shape, seed=seed, name="dropout")

        if truth is None:
            outputs = tf.cond(tf.cast(is_training, tf.bool), dropped, lambda: tf.identity(values))
        else:
            outputs = dropped() if truth else tf.identity(values)
        return one.finished(outputs)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Callable[[Any], Any] | None = None,
    initializer: Any = _ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds a variable, one number per channel."""
    if data_format not in ("NHWC", "NCHW"):
        raise UsageError(f"bias_add: data_format has to be either NCHW or NHWC, got {data_format!r}.")
    settings = {
        "trainable": trainable,
        "variables_collections": variables_collections,
        "outputs_collections": outputs_collections,
    }
    with making("bias_add", inputs, scope, "BiasAdd", reuse=reuse, **settings) as one:
        values = tf.convert_to_tensor(one.inputs)
        size = values.shape[1 if data_format == "NCHW" else -1]
        if size is None:
            raise UsageError(f"bias_add: the number of channels must be known, got shape {values.shape}.")
        biases = one.variable("biases", [size], values.dtype.base_dtype, initializer, regularizer)
        return one.finished(tf.nn.bias_add(values, biases, data_format=data_format), activation_fn)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Class numbers as vectors: `on_value` at the class, `off_value` elsewhere."""
    with naming("one_hot_encoding", labels, scope, "OneHotEncoding", outputs_collections=outputs_collections) as one:
        numbers = tf.convert_to_tensor(one.inputs)
        if numbers.dtype == tf.int32:
            numbers = tf.cast(numbers, tf.int64)
        return one.finished(tf.one_hot(numbers, num_classes, on_value=on_value, off_value=off_value))


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Each vector along the axis `dim`, divided by its length."""
    with making("unit_norm", inputs, scope, "UnitNorm") as one:
        values = tf.convert_to_tensor(one.inputs)
        rank = values.shape.rank
        if rank is None or not -rank <= dim < rank:
            raise UsageError(
                "unit_norm: dim must be positive but smaller than the input rank, or count from the end; got "
                f"{dim} for shape {values.shape}."
            )
        lengths = tf.sqrt(tf.reduce_sum(tf.square(values), dim, keepdims=True) + epsilon)
        return one.finished(tf.divide(values, lengths, name="div"))


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Softmax over the last axis."""
    with making("softmax", logits, scope, "softmax") as one:
        return one.finished(tf.nn.softmax(tf.convert_to_tensor(one.inputs)))


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The largest of each group of channels, `num_units` groups in all."""
    with making("maxout", inputs, scope, "MaxOut") as one:
        values = tf.convert_to_tensor(one.inputs)
        shape = values.shape.as_list()
        size = shape[axis]
        if size is None or size % num_units:
            raise UsageError(f"maxout: number of features({size}) is not a multiple of num_units({num_units}).")
        place = axis % len(shape)
        split = [-1 if length is None else length for length in shape]
        split[place : place + 1] = [num_units, size // num_units]
        if split.count(-1) > 1:
            running = tf.shape(values)
            split = [running[at] if length is None else length for at, length in enumerate(shape)]
            split[place : place + 1] = [num_units, size // num_units]
        outputs = tf.reduce_max(tf.reshape(values, split), place + 1)
        shape[place] = num_units
        outputs.set_shape(shape)
        return one.finished(outputs)


def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a layer several times, each on the output of the last: `repeat(net, 2, conv2d, 64, [3, 3])`."""
    scope = kwargs.pop("scope", None)
    with tf.compat.v1.variable_scope(scope, "Repeat", [inputs]):
        name = scope or _name_of(layer, "repeat")
        outputs = tf.convert_to_tensor(inputs)
        for number in range(repetitions):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{number + 1}"})
        return outputs


def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any) -> Any:
    """Calls a layer once for each of `stack_args`, on the output of the last: `stack(x, fully_connected, [8, 4])`."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, list | tuple):
        raise UsageError(f"stack: stack_args need to be a list or tuple, got {stack_args!r}.")
    with tf.compat.v1.variable_scope(scope, "Stack", [inputs]):
        name = scope or _name_of(layer, "stack")
        outputs = tf.convert_to_tensor(inputs)
        for number, given in enumerate(stack_args):
            args = given if isinstance(given, list | tuple) else [given]
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{number + 1}"})
        return outputs


def _name_of(layer: Any, default: str) -> str:
    function = layer.func if isinstance(layer, functools.partial) else layer
    return str(getattr(function, "__name__", default))
