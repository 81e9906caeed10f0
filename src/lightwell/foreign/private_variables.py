"""Methods that variables had in TensorFlow 1 and that only reference variables have today.

Of the methods of `tf.Variable` in TensorFlow 1.15, resource variables lack `initialized_value` alone. Programs that
initialise one variable from another use it: copies of weights, gradients that are summed over steps, moving averages.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.foreign.probes import missing_attributes, warn_once


def restore_initialized_value() -> None:
    """Gives resource variables the method `initialized_value` of TensorFlow 1, unless the release has it.

    Without it, TensorFlow raises a NotImplementedError that has no text.
    """
    from tensorflow.python.ops import resource_variable_ops, variables

    missing = missing_attributes(resource_variable_ops, ["BaseResourceVariable"])
    if missing:
        loss = (
            "Variables have no initialized_value(): read a variable under tf.control_dependencies of its initializer."
        )
        warn_once(f"TensorFlow {tf.__version__}", tuple(missing), loss)
        return
    kind = resource_variable_ops.BaseResourceVariable
    if kind.initialized_value is getattr(variables.Variable, "initialized_value", None):
        kind.initialized_value = _initialized_value


def _initialized_value(self: Any) -> Any:
    """The value of this variable, or, before its initializer has run, the one that it is going to have."""
    with tf.init_scope():
        return tf.cond(self.is_initialized(), self.read_value, lambda: self.initial_value)
