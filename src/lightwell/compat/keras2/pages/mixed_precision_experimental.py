"""`tf.keras.mixed_precision.experimental`: what became part of `tf.keras.mixed_precision`."""

from lightwell.base.lazy import lazy_names

_NAMES = {
    "LossScaleOptimizer": "LossScaleOptimizer",
    "Policy": "Policy",
    "global_policy": "global_policy",
    "set_policy": "set_global_policy",
}

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {old: f"tensorflow:keras.mixed_precision.{new}" for old, new in _NAMES.items()},
    label="tf.keras.mixed_precision.experimental",
)
