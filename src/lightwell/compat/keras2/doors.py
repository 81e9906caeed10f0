"""The table of names that Keras 3 dropped from `tf.keras`: each leads to what does the same, or to what to use.

`NAMES` and `ABSENT` are by module below `tf.keras` ("" is `tf.keras` itself), `PAGES` are whole modules, `WRAPS`
functions that take what Keras 2 took.
"""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "lightwell.compat.keras2"
_LOSSES = (
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
)
_FUNCTIONS: Mapping[str, str] = {
    **{name: f"{_HERE}.losses:{name}" for name in _LOSSES},
    "cosine": f"{_HERE}.losses:cosine_proximity",
    "cosine_proximity": f"{_HERE}.losses:cosine_proximity",
    "kl_divergence": "tensorflow:keras.losses.KLD",
    "log_cosh": "tensorflow:keras.losses.logcosh",
}
_BACKEND = (
    *("function", "get_session", "in_test_phase", "in_train_phase", "learning_phase", "learning_phase_scope"),
    *("local_conv1d", "local_conv2d", "manual_variable_initialization", "normalize_batch_in_training"),
    *("placeholder", "print_tensor", "random_binomial", "reset_uids", "set_learning_phase", "set_session"),
)

NAMES: Mapping[str, Mapping[str, str]] = {
    "backend": {name: f"{_HERE}.backend:{name}" for name in _BACKEND},
    "callbacks": {"BaseLogger": "tensorflow:keras.callbacks.Callback"},
    "initializers": {
        "normal": "tensorflow:keras.initializers.RandomNormal",
        "uniform": "tensorflow:keras.initializers.RandomUniform",
    },
    "layers": {
        "DenseFeatures": "lightwell.feature_columns:DenseFeatures",
        "SequenceFeatures": "lightwell.feature_columns:SequenceFeatures",
        **{
            name: f"{_HERE}.layers:{name}"
            for name in ("AbstractRNNCell", "CuDNNGRU", "CuDNNLSTM", "LocallyConnected1D", "LocallyConnected2D")
        },
    },
    "losses": _FUNCTIONS,
    "metrics": {
        **_FUNCTIONS,
        "MeanRelativeError": f"{_HERE}.metrics:MeanRelativeError",
        "MeanTensor": f"{_HERE}.metrics:MeanTensor",
    },
    "models": {"model_from_config": "tensorflow:keras.layers.deserialize"},
    "optimizers.legacy": {name: f"{_HERE}.pages.legacy_optimizers:{name}" for name in ("Adadelta", "Adamax", "Nadam")},
    "utils": {"to_ordinal": f"{_HERE}.small:to_ordinal"},
}

_WEIGHTS = "Today's Keras lacks this model."
_DATA = "Use tf.data: Dataset.from_generator, or the `fit` of a tf.keras.utils.Sequence."
_RESNET_RS = tuple(f"ResNetRS{depth}" for depth in (50, 101, 152, 200, 270, 350, 420))
_REGNET = tuple(
    f"RegNet{kind}{size}"
    for kind in "XY"
    for size in ("002", "004", "006", "008", "016", "032", "040", "064", "080", "120", "160", "320")
)

ABSENT: Mapping[str, Mapping[str, str]] = {
    "": {"dtensor": "Use tf.distribute, or keras.distribution of Keras 3."},
    "applications": dict.fromkeys((*_RESNET_RS, *_REGNET, "regnet", "resnet_rs"), _WEIGHTS),
    "backend": {"experimental": "Use tf.random.set_seed and keras.utils.set_random_seed."},
    "callbacks": {"SidecarEvaluatorModelExport": "Use tf.estimator.train_and_evaluate, whose evaluator is a process."},
    "constraints": dict.fromkeys(
        ("RadialConstraint", "radial_constraint"), "Write a subclass of tf.keras.constraints.Constraint."
    ),
    "metrics": {"experimental": "Use tf.py_function in update_state of your own tf.keras.metrics.Metric."},
    "models": {
        "experimental": "SharpnessAwareMinimization is gone: override train_step.",
        "model_from_yaml": "It was removed for its security: use tf.keras.models.model_from_json.",
    },
    "utils": {
        **dict.fromkeys(("GeneratorEnqueuer", "OrderedEnqueuer", "SequenceEnqueuer", "TimedThread"), _DATA),
        "HDF5Matrix": "Use h5py.File(path)[name], with tf.data.Dataset.from_generator.",
        "SidecarEvaluator": "Use tf.estimator.train_and_evaluate, whose evaluator is a process of its own.",
        "StepsPerExecutionTuner": "Use compile(steps_per_execution=...).",
        "convert_all_kernels_in_model": "Weights of Theano are no longer read: convert them with the old Keras.",
        "experimental": "DatasetCreator is gone: pass a tf.data.Dataset.",
        "multi_gpu_model": "Use RunConfig(train_distribute=tf.distribute.MirroredStrategy()).",
        "warmstart_embedding_matrix": "Use tf.estimator.WarmStartSettings with a VocabInfo.",
    },
}

# Names that only Keras 2 itself has: the package tf_keras, in whose place a program gets them.
IN_TF_KERAS: frozenset[str] = frozenset(
    [
        *(f"applications.{name}" for name in (*_RESNET_RS, *_REGNET, "regnet", "resnet_rs")),
        *("constraints.RadialConstraint", "constraints.radial_constraint"),
        *("experimental.LinearModel", "experimental.SidecarEvaluator", "experimental.WideDeepModel"),
        "layers.experimental.RandomFourierFeatures",
        "layers.experimental.preprocessing.PreprocessingLayer",
        *("metrics.experimental", "models.experimental"),
        *(f"utils.{name}" for name in ("GeneratorEnqueuer", "OrderedEnqueuer", "SequenceEnqueuer", "SidecarEvaluator")),
        *("utils.experimental", "utils.warmstart_embedding_matrix"),
    ]
)
TF_KERAS = "Or `pip install tf_keras`: `lightwell run` then uses that Keras 2 for the program."

PAGES: Mapping[str, str] = {
    "callbacks.experimental": f"{_HERE}.pages.callbacks_experimental",
    "estimator": "lightwell.compat.keras_estimator",
    "experimental": "lightwell.compat.keras_experimental",
    "layers.experimental": f"{_HERE}.pages.layers_experimental",
    "layers.experimental.preprocessing": f"{_HERE}.pages.preprocessing",
    "mixed_precision.experimental": f"{_HERE}.pages.mixed_precision_experimental",
    "optimizers.experimental": f"{_HERE}.pages.optimizers_experimental",
    "saving": "keras.saving",
    "wrappers.scikit_learn": f"{_HERE}.pages.scikit_learn",
}

_LEGACY = ("Adagrad", "Adam", "Ftrl", "Optimizer", "RMSprop", "SGD")
WRAPS: Mapping[str, Mapping[str, str]] = {
    "activations": {
        "get": f"{_HERE}.activations:naming_old_formulas",
        "hard_sigmoid": f"{_HERE}.activations:old_hard_sigmoid",
        "relu": f"{_HERE}.activations:relu_with_alpha",
    },
    "backend": {"hard_sigmoid": f"{_HERE}.activations:old_hard_sigmoid"},
    "losses": {"get": f"{_HERE}.losses:by_old_names"},
    "metrics": {"get": f"{_HERE}.losses:by_old_names"},
    "optimizers.legacy": {name: f"{_HERE}.small:legacy_{name.lower()}" for name in _LEGACY},
    "regularizers": {"l1_l2": f"{_HERE}.regularizers:l1_l2_with_defaults"},
    "utils": {"to_categorical": f"{_HERE}.small:to_categorical_of_y"},
    "layers": {"Input": f"{_HERE}.small:input_without_tensor"},
}
# Wrapped where Keras' own modules look the functions up.
INNER_WRAPS: Mapping[str, Mapping[str, str]] = {
    r"keras\.src\.activations": {"get": f"{_HERE}.activations:naming_old_formulas"},
    r"keras\.src\.losses": {"get": f"{_HERE}.losses:by_old_names"},
    r"keras\.src\.metrics": {"get": f"{_HERE}.losses:by_old_names"},
}
# Names that TensorFlow's private copy of Keras 2 has lost since: those of today's Keras.
PRIVATE_NAMES: Mapping[str, Mapping[str, str]] = {
    "layers": {
        name: f"tensorflow:keras.layers.{name}"
        for name in (
            *("AlphaDropout", "BatchNormalization", "Bidirectional", "GRU", "GRUCell", "GaussianDropout"),
            *("GaussianNoise", "LSTM", "LSTMCell", "LayerNormalization", "TimeDistributed", "Wrapper"),
        )
    },
    "utils": {name: f"tensorflow:keras.utils.{name}" for name in ("to_categorical", "plot_model", "normalize")},
}
# Modules of that copy that are gone: their layers are below `tf.keras.layers`.
PRIVATE_LAYER_MODULES = "cudnn_recurrent local noise normalization normalization_v2 recurrent_v2 wrappers".split()
MENDS = (f"{_HERE}.mending:mend_keras",)
