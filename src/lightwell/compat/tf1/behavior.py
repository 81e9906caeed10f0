"""The switches that make TensorFlow behave as in TensorFlow 1. No import switches them.

Off: eager execution, tensor shapes whose dimensions are plain integers (`shape[1].value` works again), `==` by value on
tensors. Left on, against `tf.compat.v1.disable_v2_behavior()`: resource variables, which have the same names in
checkpoints, are safe to read and write in one step, and are what fused steps and Keras layers need; and functional
control flow, which XLA and fused steps need. Resource variables get the one method of TensorFlow 1 that they lack.
"""

from __future__ import annotations

import tensorflow as tf

from lightwell.foreign.private_variables import restore_initialized_value


def enable_tf1_behavior() -> None:
    """Switch the process to TensorFlow 1's graph mode. Call it before building anything; again is harmless."""
    tf.compat.v1.disable_eager_execution()
    tf.compat.v1.disable_v2_tensorshape()
    tf.compat.v1.disable_tensor_equality()
    restore_initialized_value()
