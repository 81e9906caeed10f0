"""Modules below `tensorflow.python.keras.layers` that TensorFlow dropped from its private copy of Keras 2."""

from lightwell.base.lazy import lazy_names
from lightwell.compat.keras2.doors import NAMES, PRIVATE_NAMES

_CUDNN = {name: NAMES["layers"][name] for name in ("CuDNNGRU", "CuDNNLSTM", "LocallyConnected1D", "LocallyConnected2D")}

__getattr__, __dir__, __all__ = lazy_names(
    __name__, {**PRIVATE_NAMES["layers"], **_CUDNN}, label="tensorflow.python.keras.layers"
)
