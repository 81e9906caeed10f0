"""`tf.contrib.layers.layer_norm`: each example normalised by its own mean and variance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.model.layers.record import BookCall

_SCOPE = "LayerNorm"
_EPSILON, _EPSILON_OF_HALVES = 1e-12, 1e-3


def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[[Any], Any] | None = None,
    reuse: bool | None = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Normalises over the axes from `begin_norm_axis` on, then scales and shifts.

    Args:
        inputs: a tensor of known rank, and of known size from `begin_params_axis` on.
        center: whether there is an offset, the variable `beta`.
        scale: whether there is a factor, the variable `gamma`.
        activation_fn: applied to the result.
        reuse: whether to reuse the scope's variables.
        variables_collections: collections for the variables: a list, or a dict by variable.
        outputs_collections: collections for the result.
        trainable: whether the variables are trainable.
        begin_norm_axis: the first axis to normalise over.
        begin_params_axis: the first axis that the variables have.
        scope: the variable scope; if None, a unique scope called `LayerNorm`.

    Raises:
        UsageError: the shape is not known enough, or the axes do not fit it.
    """
    with tf.compat.v1.variable_scope(scope, _SCOPE, [inputs], reuse=reuse) as opened:
        passing = BookCall(name=opened.name, kind="layer_norm")
        values = passing.pass_inputs(tf.convert_to_tensor(inputs))
        shape = _shape_of_variables(values, begin_norm_axis, begin_params_axis)

        def variable(name: str, initializer: Any) -> Any:
            by_name = isinstance(variables_collections, dict)
            more = variables_collections.get(name) if by_name else variables_collections
            collections = [*(more or ()), tf.compat.v1.GraphKeys.GLOBAL_VARIABLES] if more else None
            return tf.compat.v1.get_variable(
                name,
                shape,
                values.dtype.base_dtype,
                initializer,
                trainable=trainable,
                collections=collections,
            )

        beta = variable("beta", tf.compat.v1.zeros_initializer()) if center else None
        gamma = variable("gamma", tf.compat.v1.ones_initializer()) if scale else None
        axes = list(range(begin_norm_axis % values.shape.rank, values.shape.rank))
        mean, variance = tf.nn.moments(values, axes, keepdims=True)
        epsilon = _EPSILON_OF_HALVES if values.dtype == tf.float16 else _EPSILON
        outputs = tf.nn.batch_normalization(values, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(values.shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        made = [one for one in (beta, gamma) if one is not None]
        outputs = passing.pass_outputs(outputs, variables=made)
        for collection in [outputs_collections] if isinstance(outputs_collections, str) else outputs_collections or ():
            tf.compat.v1.add_to_collection(collection, outputs)
        return outputs


def _shape_of_variables(values: Any, begin_norm_axis: int, begin_params_axis: int) -> Any:
    rank = values.shape.rank
    if rank is None:
        raise UsageError(f"layer_norm: Inputs {values.name} has undefined rank; set its shape before.")
    first = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
    if begin_params_axis >= rank or first >= rank:
        raise UsageError(
            f"layer_norm: begin_params_axis ({begin_params_axis}) and begin_norm_axis ({first}) must be < rank(inputs) "
            f"({rank})."
        )
    shape = values.shape[begin_params_axis:]
    if not shape.is_fully_defined():
        raise UsageError(
            f"layer_norm: Inputs {values.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
            f"{values.shape}. Set it before: its variables are of that shape."
        )
    return shape
