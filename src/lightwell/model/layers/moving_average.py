"""Moving averages of batch statistics.

Owns the update `variable -= (variable - value) * (1 - momentum)`, under the operation names by which TensorFlow 1
programs know it. Takes a variable and a value, gives the assignment.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def move_towards(variable: Any, value: Any, momentum: Any) -> Any:
    """Moves `variable` a step of `1 - momentum` towards `value`.

    Args:
        variable: the average so far.
        value: the newest value.
        momentum: how much of the average stays: a number, or a scalar tensor when a run decides it.
    """
    with tf.name_scope("AssignMovingAvg") as scope:
        if tf.is_tensor(momentum):
            step = 1.0 - momentum
        else:
            step = tf.convert_to_tensor(1.0 - momentum, name="decay")
        dtype = variable.dtype.base_dtype
        delta = (variable - tf.cast(value, dtype)) * tf.cast(step, dtype)
        return tf.compat.v1.assign_sub(variable, delta, name=scope)
