"""The graveyard: names of TensorFlow 1 that will not come back, each with the way out.

Owns the table of `tf.contrib`, which TensorFlow removed in 2.0. Where the very same thing lives on, its cell is a
target and `tf.contrib` of `lightwell.tf1` gives it; otherwise the cell begins with `!` and says what to use. The cell
of a whole namespace has the empty name; if it begins with `?`, the package named first stands for the namespace where
it is installed. Retired names of `tf.estimator` itself are absent rows of `lightwell._names`.
"""

from __future__ import annotations

from collections.abc import Mapping

_V1 = "lightwell.compat.v1.estimator"
_DATA = "tensorflow:data.experimental"
_TRAIN = "tensorflow:compat.v1.train"
_SLIM = "!Install the package tf_slim, which carries it on."
_ADDONS = (
    "!Its last home was the package tensorflow_addons, which is no longer maintained: copy the few lines you need."
)
_PROBABILITY = "!Install the package tensorflow_probability, which carries it on."
_CANNED = "!Use the canned models of tf.estimator, or Estimator with a model_fn."
_PLAIN = "!Use tf.compat.v1.layers"
_RNN_CELLS = (
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
)
_STOPPING = (
    "InMemoryEvaluatorHook",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
)
_TPU = ("InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec")

CONTRIB: Mapping[str, Mapping[str, str]] = {
    "batching": {"": "!Use tf.nondifferentiable_batch_function."},
    "bayesflow": {"": _PROBABILITY},
    "boosted_trees": {"": "!Install a decision forest library (ydf, xgboost, lightgbm)."},
    "cluster_resolver": {
        name: f"tensorflow:distribute.cluster_resolver.{name}"
        for name in ("ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver")
    },
    "crf": {"": _ADDONS},
    "data": {
        name: f"{_DATA}.{name}"
        for name in (
            "AUTOTUNE",
            "assert_cardinality",
            "bucket_by_sequence_length",
            "dense_to_ragged_batch",
            "get_single_element",
            "group_by_window",
            "ignore_errors",
            "make_batched_features_dataset",
            "make_csv_dataset",
            "map_and_batch",
            "parallel_interleave",
            "prefetch_to_device",
            "sample_from_datasets",
            "shuffle_and_repeat",
            "unbatch",
        )
    }
    | {
        "batch_and_drop_remainder": "!Use dataset.batch(n, drop_remainder=True).",
        "Counter": f"{_DATA}.Counter",
    },
    "distribute": {"": "!Use tf.distribute; without num_gpus, a strategy takes all visible GPUs."},
    "distributions": {"": _PROBABILITY},
    "eager": {"": "!Use tf.GradientTape, tf.Variable and tf.compat.v1.enable_eager_execution."},
    "estimator": {name: f"{_V1}.experimental:{name}" for name in _STOPPING}
    | {
        "add_metrics": f"{_V1}:add_metrics",
        "clip_gradients_by_norm": "!In model_fn, call tf.clip_by_global_norm before apply_gradients.",
        "forward_features": '!Ask for them: estimator.predict(input_fn, taps=["features/<key>"]).',
    },
    "factorization": {"KMeansClustering": f"{_V1}.experimental:KMeans"},
    "feature_column": {"": "!Use tf.feature_column, which has the sequence columns."},
    "framework": {
        "arg_scope": _SLIM,
        "add_arg_scope": _SLIM,
        "assign_from_checkpoint": "!Use tf.compat.v1.train.init_from_checkpoint.",
        "create_global_step": f"{_TRAIN}.create_global_step",
        "get_global_step": f"{_TRAIN}.get_global_step",
        "get_or_create_global_step": f"{_TRAIN}.get_or_create_global_step",
        "get_variables": "!Use tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.GLOBAL_VARIABLES, scope).",
        "get_variables_to_restore": "!Use tf.compat.v1.global_variables().",
        "init_from_checkpoint": f"{_TRAIN}.init_from_checkpoint",
        "list_variables": "tensorflow:train.list_variables",
        "load_checkpoint": "tensorflow:train.load_checkpoint",
        "load_variable": "tensorflow:train.load_variable",
        "nest": "tensorflow:nest",
    },
    "gan": {"": "?tensorflow_gan Install the package tensorflow_gan, which carries it on."},
    "hparam": {"HParams": "!Use a dict or a dataclass; Estimator(params=...) takes either."},
    "image": {"": _ADDONS},
    "keras": {"": "!Use tf.keras."},
    "layers": {
        "batch_norm": f"{_PLAIN}.batch_normalization (momentum=0.999 and epsilon=0.001 were its defaults).",
        "conv2d": f"{_PLAIN}.conv2d with activation=tf.nn.relu and padding='same'.",
        "dropout": f"{_PLAIN}.dropout: rate is 1 - keep_prob, training is is_training.",
        "embed_sequence": "!Use tf.compat.v1.get_variable and tf.nn.embedding_lookup.",
        "flatten": f"{_PLAIN}.flatten.",
        "fully_connected": f"{_PLAIN}.dense with activation=tf.nn.relu.",
        "l1_regularizer": "!Use tf.keras.regularizers.L1(scale).",
        "l2_regularizer": "!Use tf.keras.regularizers.L2(scale / 2): contrib halved the sum of squares.",
        "layer_norm": "!Use tf.keras.layers.LayerNormalization(epsilon=1e-12).",
        "max_pool2d": f"{_PLAIN}.max_pooling2d.",
        "optimize_loss": "!Use an optimizer of tf.compat.v1.train and its minimize().",
        "variance_scaling_initializer": "!Use tf.compat.v1.variance_scaling_initializer(scale=2.0).",
        "xavier_initializer": "!Use tf.compat.v1.glorot_uniform_initializer().",
        "": _SLIM,
    },
    "learn": {
        "ModeKeys": f"{_V1}:ModeKeys",
        "RunConfig": f"{_V1}:RunConfig",
        "": _CANNED,
    },
    "lite": {"": "!Use tf.lite."},
    "lookup": {"": "!Use tf.lookup: StaticHashTable, StaticVocabularyTable, TextFileInitializer."},
    "losses": {"": "!Use tf.compat.v1.losses."},
    "metrics": {"": "!Use tf.compat.v1.metrics."},
    "nn": {"": "!Use tf.nn."},
    "opt": {
        "AdamWOptimizer": "!Use tf.keras.optimizers.AdamW.",
        "LazyAdamOptimizer": "!Use tf.compat.v1.train.AdamOptimizer.",
        "": _ADDONS,
    },
    "predictor": {"": "!Use estimator.predictor(), or tf.saved_model.load on the exported folder."},
    "quantize": {"": "!Install the package tensorflow_model_optimization."},
    "rnn": {name: f"lightwell.rnn_cell:{name}" for name in _RNN_CELLS}
    | {
        "static_bidirectional_rnn": "tensorflow:compat.v1.nn.static_bidirectional_rnn",
        "static_rnn": "tensorflow:compat.v1.nn.static_rnn",
        "LayerNormBasicLSTMCell": "!Write it over rnn_cell.RNNCell, with tf.keras.layers.LayerNormalization.",
        "": _ADDONS,
    },
    "saved_model": {"": "!Use tf.compat.v1.saved_model, or estimator.export_saved_model."},
    "seq2seq": {"": _ADDONS},
    "slim": {"": "?tf_slim Install the package tf_slim, which carries it on."},
    "summary": {"": "!Use tf.compat.v1.summary in model_fn, or tf.summary with a writer."},
    "tensorrt": {"": "!Use tf.experimental.tensorrt."},
    "timeseries": {"": "!Use Estimator with a model_fn over windows of the series."},
    "tpu": {name: f"{_V1}.tpu:{name}" for name in _TPU}
    | {
        "CrossShardOptimizer": "tensorflow:compat.v1.tpu.CrossShardOptimizer",
        "bfloat16_scope": "tensorflow:compat.v1.tpu.bfloat16_scope",
    },
    "training": {
        "HParams": "!Use a dict or a dataclass; Estimator(params=...) takes either.",
        "": "!Use tf.data for input and tf.compat.v1.train for sessions.",
    },
}


def contrib_hint(path: str) -> str:
    """What to say when `path` (`contrib`, `contrib.slim`, `contrib.layers.layer_norm`) is asked for in vain."""
    start = f"tf.{path} is gone: TensorFlow removed tf.contrib in 2.0."
    _, _, rest = path.partition(".")
    namespace, _, name = rest.partition(".")
    if not namespace:
        return f"{start} `from lightwell import tf1 as tf` offers the parts of tf.contrib that live on."
    cells = CONTRIB.get(namespace)
    if cells is None:
        return f"{start} Nothing under tf.contrib.{namespace} has a successor that Lightwell knows."
    cell = cells.get(name) or cells.get("", "")
    if cell.startswith("?"):
        cell = f"!{cell.partition(' ')[2]}"
    if cell.startswith("!"):
        return f"{start} {cell[1:]}"
    kept = ", ".join(sorted(key for key, value in cells.items() if key and not value.startswith("!")))
    return f"{start} Of tf.contrib.{namespace}, lightwell.tf1 has: {kept}."
