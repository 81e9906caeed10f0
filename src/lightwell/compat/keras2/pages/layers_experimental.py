"""`tf.keras.layers.experimental`: what became part of `tf.keras.layers`."""

from lightwell.base.lazy import lazy_names
from lightwell.compat.keras2.doors import TF_KERAS

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "EinsumDense": "tensorflow:keras.layers.EinsumDense",
        "SyncBatchNormalization": "lightwell.compat.keras2.layers:sync_batch_normalization",
        "preprocessing": "lightwell.compat.keras2.pages.preprocessing",
    },
    absent={
        "RandomFourierFeatures": f"Use a Dense layer with frozen random weights and a cosine activation. {TF_KERAS}",
    },
    label="tf.keras.layers.experimental",
)
# A package, so that `from tensorflow.keras.layers.experimental.preprocessing import Rescaling` may look below it.
__path__: list[str] = []
