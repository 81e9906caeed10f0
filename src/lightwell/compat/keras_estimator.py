"""The names of `tf.keras.estimator`, looked up on first use."""

from lightwell.base.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {"model_to_estimator": "lightwell.estimator.from_keras.convert:model_to_estimator"},
    label="tf.keras.estimator",
)
