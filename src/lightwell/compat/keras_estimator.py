"""The names of `tf.keras.estimator`, looked up on first use."""

from lightwell._lazy import lazy_names
from lightwell.compat.names import KERAS_ESTIMATOR_ABSENT

__getattr__, __dir__, __all__ = lazy_names(__name__, {}, absent=KERAS_ESTIMATOR_ABSENT, label="tf.keras.estimator")
