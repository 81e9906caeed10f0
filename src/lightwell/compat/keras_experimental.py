"""The names of `tf.keras.experimental`, which Keras 3 dropped, looked up on first use."""

from lightwell.base.lazy import lazy_names
from lightwell.compat.keras2.doors import TF_KERAS

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "CosineDecay": "tensorflow:keras.optimizers.schedules.CosineDecay",
        "CosineDecayRestarts": "tensorflow:keras.optimizers.schedules.CosineDecayRestarts",
        "SequenceFeatures": "lightwell.feature_columns:SequenceFeatures",
    },
    absent={
        "LinearModel": "Use a Dense layer without activation, or tf.compat.v1.feature_column.linear_model in model_fn. "
        + TF_KERAS,
        "SidecarEvaluator": f"Call estimator.evaluate in a process of its own. {TF_KERAS}",
        "WideDeepModel": f"Add the outputs of a linear and a deep part in model_fn. {TF_KERAS}",
    },
    label="tf.keras.experimental",
)
