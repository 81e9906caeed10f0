"""`tf.keras.optimizers.experimental`: the optimizers of Keras 3, which were tried there first."""

from lightwell.base.lazy import lazy_names

_NAMES = "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Nadam Optimizer RMSprop SGD".split()

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {name: f"tensorflow:keras.optimizers.{name}" for name in _NAMES},
    label="tf.keras.optimizers.experimental",
)
