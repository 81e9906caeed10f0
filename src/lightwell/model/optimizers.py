"""`minimize`: any optimizer, and one operation that makes a training step and counts it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.model.interop.keras_scope import is_keras_optimizer, keras_minimize

_v1 = tf.compat.v1


def minimize(optimizer: Any, loss: Any, var_list: Sequence[Any] | None = None, global_step: Any = None) -> tf.Operation:
    """The `train_op` of an `EstimatorSpec`: makes one step towards a smaller `loss`, and counts it.

        train_op = lw.minimize(keras.optimizers.Adam(1e-3), loss)

    The operations in `GraphKeys.UPDATE_OPS` (moving statistics) run with it.

    Args:
        optimizer: an optimizer of Keras or of `tf.compat.v1.train`.
        loss: a scalar tensor of the graph being built.
        var_list: what to train; all trainable variables if None.
        global_step: the variable to count in; the graph's own if None. False counts nothing, for the second of two
            optimizers of one step.

    Raises:
        UsageError: there is no graph being built, no global step in it, or nothing to train.
        WrongType: `optimizer` is none.
    """
    if tf.executing_eagerly():
        raise UsageError("minimize works on the graph being built: call it inside model_fn.")
    counter = _counter(global_step)
    if is_keras_optimizer(optimizer):
        step = keras_minimize(optimizer, loss, var_list, counter)
    elif callable(getattr(optimizer, "minimize", None)):
        # One of a user's own may take no list: tf.estimator names none to train all.
        chosen = {} if var_list is None else {"var_list": var_list}
        step = optimizer.minimize(loss, global_step=counter, **chosen)
    else:
        raise WrongType(
            "minimize: optimizer must be one of keras.optimizers or tf.compat.v1.train, got "
            f"{type(optimizer).__name__} {optimizer!r}. For example keras.optimizers.Adam(1e-3)."
        )
    updates = _v1.get_collection(_v1.GraphKeys.UPDATE_OPS)
    return tf.group(step, *updates) if updates else step


def _counter(global_step: Any) -> Any:
    if global_step is False:
        return None
    if global_step is not None:
        return global_step
    global_step = _v1.train.get_global_step()
    if global_step is None:
        raise UsageError(
            "minimize: the graph has no global step to count in. Create one with "
            "tf.compat.v1.train.get_or_create_global_step(), or pass global_step=False."
        )
    return global_step
