"""Making variables: `variable`, `model_variable` and their like, of `tf.contrib.framework`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.arg_scope import add_arg_scope

_KEYS = tf.compat.v1.GraphKeys


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.compat.v1.VariableAggregation.NONE,
) -> Any:
    """Gets or makes a variable, as `tf.compat.v1.get_variable`.

    Args:
        name, shape, dtype, initializer, regularizer, trainable, caching_device, partitioner, custom_getter,
            use_resource, synchronization, aggregation: as in `get_variable`.
        collections: graph collections; `GLOBAL_VARIABLES` is added unless they have it or `LOCAL_VARIABLES`.
        device: a device, or a function from an operation to a device.
    """
    wanted = list(collections) if collections is not None else [_KEYS.GLOBAL_VARIABLES]
    if _KEYS.GLOBAL_VARIABLES not in wanted and _KEYS.LOCAL_VARIABLES not in wanted:
        wanted.append(_KEYS.GLOBAL_VARIABLES)
    getter = custom_getter or tf.compat.v1.get_variable
    with tf.compat.v1.device(device if device is not None else ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(wanted)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = tf.float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    synchronization: Any = tf.VariableSynchronization.AUTO,
    aggregation: Any = tf.compat.v1.VariableAggregation.NONE,
) -> Any:
    """`variable`, in `GraphKeys.MODEL_VARIABLES` too."""
    wanted = [*(collections or ()), _KEYS.GLOBAL_VARIABLES, _KEYS.MODEL_VARIABLES]
    return variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=wanted,
        caching_device=caching_device,
        device=device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def add_model_variable(var: Any) -> None:
    """Puts a variable into `GraphKeys.MODEL_VARIABLES`, once."""
    if not any(var is known for known in tf.compat.v1.get_collection(_KEYS.MODEL_VARIABLES)):
        tf.compat.v1.add_to_collection(_KEYS.MODEL_VARIABLES, var)


def local_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> Any:
    """A variable that is not trained and not saved."""
    return _made(initial_value, _KEYS.LOCAL_VARIABLES, validate_shape, name, use_resource)


def global_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> Any:
    """A variable that is not trained."""
    return _made(initial_value, _KEYS.GLOBAL_VARIABLES, validate_shape, name, use_resource)


def _made(initial_value: Any, collection: str, validate_shape: bool, name: str | None, use_resource: Any) -> Any:
    return tf.compat.v1.Variable(
        initial_value,
        trainable=False,
        collections=[collection],
        validate_shape=validate_shape,
        use_resource=use_resource,
        name=name,
    )
