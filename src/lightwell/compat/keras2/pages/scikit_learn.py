"""`tf.keras.wrappers.scikit_learn`: importing it works, its classes name what to use."""

from lightwell.base.lazy import lazy_names

_OWN = "Use {} of `pip install scikeras`, which continues it, or tf.keras.wrappers.SKLearn{}."

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {},
    absent={
        "KerasClassifier": _OWN.format("KerasClassifier", "Classifier"),
        "KerasRegressor": _OWN.format("KerasRegressor", "Regressor"),
    },
    label="tf.keras.wrappers.scikit_learn",
)
