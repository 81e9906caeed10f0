"""`tf.keras.layers.experimental.preprocessing`: its layers are in `tf.keras.layers` today."""

from lightwell.base.lazy import lazy_names
from lightwell.compat.keras2.doors import TF_KERAS

_LAYERS = (
    *("CategoryEncoding", "CenterCrop", "Discretization", "HashedCrossing", "Hashing", "IntegerLookup"),
    *("Normalization", "RandomContrast", "RandomCrop", "RandomFlip", "RandomHeight", "RandomRotation"),
    *("RandomTranslation", "RandomWidth", "RandomZoom", "Rescaling", "Resizing", "StringLookup", "TextVectorization"),
)

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {name: f"tensorflow:keras.layers.{name}" for name in _LAYERS},
    absent={"PreprocessingLayer": f"Derive from tf.keras.layers.Layer, and write adapt(data) yourself. {TF_KERAS}"},
    label="tf.keras.layers.experimental.preprocessing",
)
