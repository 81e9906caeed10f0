"""`tf.keras.layers.experimental.preprocessing`: its layers are in `tf.keras.layers` today."""

from lightwell.base.lazy import lazy_names

_LAYERS = (
    *("CategoryEncoding", "CenterCrop", "Discretization", "HashedCrossing", "Hashing", "IntegerLookup"),
    *("Normalization", "RandomContrast", "RandomCrop", "RandomFlip", "RandomHeight", "RandomRotation"),
    *("RandomTranslation", "RandomWidth", "RandomZoom", "Rescaling", "Resizing", "StringLookup", "TextVectorization"),
)

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {name: f"tensorflow:keras.layers.{name}" for name in _LAYERS},
    absent={"PreprocessingLayer": "Derive from tf.keras.layers.Layer, and write adapt(data) yourself."},
    label="tf.keras.layers.experimental.preprocessing",
)
