"""What `tf.keras` of TensorFlow 1 computed otherwise than that of TensorFlow 2. Importing this module loads Keras."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.keras2.activations import registered_hard_sigmoid

keras: Any = tf.keras
# A wrapper such as Bidirectional copies its layer through the layer's config.
_registered: Any = keras.utils.register_keras_serializable("lightwell_v1")


@_registered
class LSTM(keras.layers.LSTM):
    """Its gates are hard sigmoids."""

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid", **kwargs: Any):
        super().__init__(units, activation=activation, recurrent_activation=_old(recurrent_activation), **kwargs)


@_registered
class LSTMCell(keras.layers.LSTMCell):
    """Likewise."""

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid", **kwargs: Any):
        super().__init__(units, activation=activation, recurrent_activation=_old(recurrent_activation), **kwargs)


@_registered
class GRU(keras.layers.GRU):
    """Likewise, and it resets the state before the product."""

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid", **kwargs: Any):
        kwargs.setdefault("reset_after", False)
        super().__init__(units, activation=activation, recurrent_activation=_old(recurrent_activation), **kwargs)


@_registered
class GRUCell(keras.layers.GRUCell):
    """Likewise."""

    def __init__(self, units: int, activation: Any = "tanh", recurrent_activation: Any = "hard_sigmoid", **kwargs: Any):
        kwargs.setdefault("reset_after", False)
        super().__init__(units, activation=activation, recurrent_activation=_old(recurrent_activation), **kwargs)


def _old(activation: Any) -> Any:
    return registered_hard_sigmoid() if activation == "hard_sigmoid" else activation
