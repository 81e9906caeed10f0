"""`tf.keras.callbacks.experimental`: what became part of `tf.keras.callbacks`."""

from lightwell.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {"BackupAndRestore": "tensorflow:keras.callbacks.BackupAndRestore"},
    label="tf.keras.callbacks.experimental",
)
