"""`tf.contrib.layers.fully_connected` and its short forms `linear`, `relu`, `relu6` and `elu`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.arg_scope import add_arg_scope
from lightwell.compat.contrib.layers.making import BIASES, RELU, WEIGHTS, making
from lightwell.errors import UsageError


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: Any,
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
    """`activation_fn(inputs @ weights + biases)` over the last axis; leading axes stay.

        hidden = tf.contrib.layers.fully_connected(features, 128)          # fully_connected/weights, .../biases
        logits = tf.contrib.layers.fully_connected(hidden, 10, activation_fn=None)

    Args:
        inputs: a tensor of at least two axes, the last of known size.
        num_outputs: the size of the result's last axis.
        activation_fn: applied to the result; None for none.
        normalizer_fn: applied in place of adding biases, `batch_norm` for example.
        normalizer_params: arguments for it.
        weights_initializer, biases_initializer: of the variables; no biases if the second is None.
        weights_regularizer, biases_regularizer: functions from a variable to a loss.
        reuse: whether to reuse the scope's variables.
        variables_collections: collections for the variables: a list, or a dict by variable.
        outputs_collections: collections for the result.
        trainable: whether the variables are trained.
        scope: the variable scope; if None, a unique scope called `fully_connected`.

    Raises:
        UsageError: `num_outputs` is no number, or the shape of the inputs is not known enough.
    """
    if not hasattr(num_outputs, "__index__"):
        raise UsageError(f"fully_connected: num_outputs type should be one of int, got {num_outputs!r}.")
    settings = {
        "trainable": trainable,
        "variables_collections": variables_collections,
        "outputs_collections": outputs_collections,
    }
    with making("fully_connected", inputs, scope, "fully_connected", reuse=reuse, **settings) as one:
        values = tf.convert_to_tensor(one.inputs)
        shape = [_last_size(values), int(num_outputs)]
        weights = one.variable("weights", shape, values.dtype.base_dtype, weights_initializer, weights_regularizer)
        outputs = _product(values, weights, int(num_outputs))
        outputs = one.with_biases(
            outputs, shape[1], normalizer_fn, normalizer_params, biases_initializer, biases_regularizer
        )
        return one.finished(outputs, activation_fn)


linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)


def _last_size(values: Any) -> int:
    rank = values.shape.rank
    size = None if not rank else tf.compat.dimension_value(values.shape[-1])
    if rank is None or rank < 2 or size is None:
        raise UsageError(
            f"fully_connected: the inputs must have two axes or more, and the last dimension of the inputs should be "
            f"defined, as the weights depend on it; got shape {values.shape}. Set it: "
            "inputs = tf.ensure_shape(inputs, [None, size])."
        )
    return int(size)


def _product(values: Any, weights: Any, size: int) -> Any:
    if values.shape.rank == 2:
        return tf.matmul(values, weights)
    outputs = tf.tensordot(values, weights, [[values.shape.rank - 1], [0]])
    outputs.set_shape([*values.shape.as_list()[:-1], size])
    return outputs
