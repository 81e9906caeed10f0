"""The graveyard: names of TensorFlow 1 that will not come back, each with the way out.

Owns the table of `tf.contrib`, which TensorFlow removed in 2.0. Where the very same thing lives on, its cell is a
target and `tf.contrib` of `lightwell.tf1` gives it; otherwise the cell begins with `!` and says what to use. The cell
of a whole namespace has the empty name; if it begins with `?`, the module named first has what the other cells do not
give, where it is installed. Retired names of `tf.estimator` itself are absent rows of `lightwell._names`.
"""

from __future__ import annotations

from collections.abc import Mapping

from lightwell._lazy import is_listed, resolve

_V1 = "lightwell.compat.v1.estimator"
_DATA = "tensorflow:data.experimental"
_TRAIN = "tensorflow:compat.v1.train"
_IN_SLIM = "The package tf_slim carries it on, with the same variable names: pip install tf_slim."
_ADDONS = (
    "!Its last home was the package tensorflow_addons, which is no longer maintained: copy the few lines you need."
)
_PROBABILITY = "!Install the package tensorflow_probability, which carries it on."
_PLAIN = f"!{_IN_SLIM} Or use tf.compat.v1.layers"
_OTHER_VARIABLES = "its variables are called kernel and bias, not weights and biases."
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
_LOGIT_FNS = ("call_logit_fn", "dnn_logit_fn_builder", "linear_logit_fn_builder")
_WITH_HEADS = ("BaselineEstimator", "DNNEstimator", "DNNLinearCombinedEstimator", "LinearEstimator")
_HEADS = (
    "binary_classification_head",
    "logistic_regression_head",
    "multi_class_head",
    "multi_head",
    "multi_label_head",
    "poisson_regression_head",
    "regression_head",
)
_OTHER_RNN = (
    "!Use tf.estimator.experimental.{}, with units for num_units; its cells are those of Keras, and its variables have "
    "other names."
)
_FORESTS = "!Install a decision forest library (ydf, xgboost, lightgbm)."
_SMALLER_MODELS = "!Install the package tensorflow_model_optimization."
_TPU = ("InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec")

# What contrib.layers had of feature columns, which tf_slim did not take along.
_OLD_COLUMNS = """
    bucketized_column check_feature_columns create_feature_spec_for_parsing crossed_column embedding_column
    infer_real_valued_columns input_from_feature_columns joint_weighted_sum_from_feature_columns
    make_place_holder_tensors_for_base_features one_hot_column parse_feature_columns_from_examples
    parse_feature_columns_from_sequence_examples real_valued_column scattered_embedding_column
    sequence_input_from_feature_columns shared_embedding_columns sparse_column_with_hash_bucket
    sparse_column_with_integerized_feature sparse_column_with_keys sparse_column_with_vocabulary_file
    transform_features weighted_sparse_column weighted_sum_from_feature_columns
"""
_USE_COLUMNS = "!Use tf.feature_column, and in model_fn tf.compat.v1.feature_column.input_layer or linear_model."
# Namespaces that nothing is left of.
_EMPTY = """
    cloud constrained_optimization graph_editor grid_rnn input_pipeline kernel_methods labeled_tensor legacy_seq2seq
    linear_optimizer periodic_resample receptive_field recurrent reduce_slice_ops remote_fused_graph rpc solvers specs
    staging stat_summarizer testing
"""

CONTRIB: Mapping[str, Mapping[str, str]] = {name: {} for name in _EMPTY.split()} | {
    "autograph": {"": "!Use tf.autograph."},
    "batching": {"": "!Use tf.nondifferentiable_batch_function."},
    "bayesflow": {"": _PROBABILITY},
    "boosted_trees": {"": _FORESTS},
    "checkpoint": {"": "!Use tf.train.Checkpoint and tf.train.CheckpointManager."},
    "cluster_resolver": {
        name: f"tensorflow:distribute.cluster_resolver.{name}"
        for name in ("ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver", "TPUClusterResolver")
    },
    "compiler": {"": "!Use tf.function(jit_compile=True)."},
    "copy_graph": {"": "!Use tf.compat.v1.import_graph_def(graph.as_graph_def(), name='')."},
    "crf": {"": _ADDONS},
    "cudnn_rnn": {"": "!Use tf.keras.layers.LSTM or tf.keras.layers.GRU, which run on cuDNN where they can."},
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
    "deprecated": {"": "!Use tf.compat.v1.summary."},
    "distribute": {"": "!Use tf.distribute; without num_gpus, a strategy takes all visible GPUs."},
    "distributions": {"": _PROBABILITY},
    "eager": {"": "!Use tf.GradientTape, tf.Variable and tf.compat.v1.enable_eager_execution."},
    "estimator": {name: f"{_V1}.experimental:{name}" for name in _STOPPING + _LOGIT_FNS}
    | {name: f"{_V1}:{name}" for name in _WITH_HEADS}
    | {
        "add_metrics": f"{_V1}:add_metrics",
        "clip_gradients_by_norm": "!In model_fn, call tf.clip_by_global_norm before apply_gradients.",
        "SavedModelEstimator": "lightwell.reopened.core:SavedModelEstimator",
        "build_raw_supervised_input_receiver_fn": f"{_V1}.experimental:build_raw_supervised_input_receiver_fn",
        "export_all_saved_models": "!Call estimator.experimental_export_all_saved_models.",
        "export_saved_model_for_mode": "!Call estimator.export_saved_model(..., experimental_mode=mode).",
        "forward_features": "lightwell.canned.forward_features:forward_features",
    }
    | {name: f"lightwell.contrib.heads:{name}" for name in _HEADS}
    | {name: _OTHER_RNN.format(name) for name in ("RNNClassifier", "RNNEstimator")},
    "factorization": {
        "KMeansClustering": f"{_V1}.experimental:KMeans",
        "": "!Of tf.contrib.factorization there is KMeansClustering; compute other factors in a model_fn.",
    }
    | {
        name: f"{_V1}.experimental:KMeans.{name}"
        for name in ("COSINE_DISTANCE", "KMEANS_PLUS_PLUS_INIT", "RANDOM_INIT", "SQUARED_EUCLIDEAN_DISTANCE")
    },
    "feature_column": {"": "!Use tf.feature_column, which has the sequence columns."},
    "ffmpeg": {"": "!Use tf.audio.decode_wav and tf.audio.encode_wav."},
    "framework": {
        "": f"?tf_slim {_IN_SLIM}",
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
    "gan": {"": "?tensorflow_gan The package tensorflow_gan carries it on: pip install tensorflow_gan."},
    "hparam": {"HParams": "!Use a dict or a dataclass; Estimator(params=...) takes either."},
    "image": {"": _ADDONS},
    "integrate": {"": _PROBABILITY},
    "keras": {"": "!Use tf.keras."},
    "layers": dict.fromkeys(_OLD_COLUMNS.split(), _USE_COLUMNS)
    | {
        "batch_norm": f"{_PLAIN}.batch_normalization(x, momentum=0.999, epsilon=0.001, scale=False, name='BatchNorm').",
        "conv2d": f"{_PLAIN}.conv2d with activation=tf.nn.relu and padding='same'; {_OTHER_VARIABLES}",
        "dropout": f"{_PLAIN}.dropout: rate is 1 - keep_prob, training is is_training.",
        "embed_sequence": "!Use tf.compat.v1.get_variable and tf.nn.embedding_lookup.",
        "flatten": f"{_PLAIN}.flatten.",
        "fully_connected": f"{_PLAIN}.dense with activation=tf.nn.relu; {_OTHER_VARIABLES}",
        "l1_regularizer": "!Use tf.keras.regularizers.L1(scale).",
        "l2_regularizer": "!Use tf.keras.regularizers.L2(scale / 2): contrib halved the sum of squares.",
        "layer_norm": "lightwell.contrib.layers.layer_norm:layer_norm",
        "max_pool2d": f"{_PLAIN}.max_pooling2d.",
        "multi_class_target": "!In model_fn, compute the loss with tf.compat.v1.losses.",
        "optimize_loss": "!Use an optimizer of tf.compat.v1.train and its minimize().",
        "regression_target": "!In model_fn, compute the loss with tf.compat.v1.losses.",
        "safe_embedding_lookup_sparse": "tensorflow:nn.safe_embedding_lookup_sparse",
        "variance_scaling_initializer": "!Use tf.compat.v1.variance_scaling_initializer(scale=2.0).",
        "xavier_initializer": "!Use tf.compat.v1.glorot_uniform_initializer().",
        "": f"?tf_slim.layers {_IN_SLIM}",
    },
    "learn": {
        "ModeKeys": "lightwell.compat.learn:ModeKeys",
        "RunConfig": f"{_V1}:RunConfig",
        "io": "lightwell.compat.learn",
        "numpy_input_fn": "lightwell.compat.learn:numpy_input_fn",
        "pandas_input_fn": "lightwell.compat.learn:pandas_input_fn",
        "": "!Use tf.estimator.Estimator with a model_fn.",
    },
    "lite": {"": "!Use tf.lite."},
    "lookup": {"": "!Use tf.lookup: StaticHashTable, StaticVocabularyTable, TextFileInitializer."},
    "losses": {"": "!Use tf.compat.v1.losses."},
    "memory_stats": {"": "!Use tf.config.experimental.get_memory_info."},
    "metrics": {"": "!Use tf.compat.v1.metrics."},
    "mixed_precision": {"": "!Use tf.keras.mixed_precision."},
    "model_pruning": {"": _SMALLER_MODELS},
    "nn": {"": "!Use tf.nn."},
    "opt": {
        "AdamWOptimizer": "!Use tf.keras.optimizers.AdamW.",
        "LazyAdamOptimizer": "!Use tf.compat.v1.train.AdamOptimizer.",
        "": _ADDONS,
    },
    "optimizer_v2": {"": "!Use tf.keras.optimizers."},
    "predictor": {
        "": "!Use estimator.predictor(), or lightwell.from_saved_model(folder).predictor() for an exported model."
    },
    "proto": {"": "!Use tf.io.decode_proto and tf.io.encode_proto."},
    "quantization": {"": "!Use tf.quantization."},
    "quantize": {"": _SMALLER_MODELS},
    "resampler": {"": _ADDONS},
    "rnn": {name: f"lightwell.rnn_cell:{name}" for name in _RNN_CELLS}
    | {
        "static_bidirectional_rnn": "tensorflow:compat.v1.nn.static_bidirectional_rnn",
        "static_rnn": "tensorflow:compat.v1.nn.static_rnn",
        "LayerNormBasicLSTMCell": "!Write it over rnn_cell.RNNCell, with tf.keras.layers.LayerNormalization.",
        "": _ADDONS,
    },
    "saved_model": {"": "!Use tf.compat.v1.saved_model."},
    "seq2seq": {"": _ADDONS},
    "signal": {"": "!Use tf.signal."},
    "slim": {"": f"?tf_slim {_IN_SLIM}"},
    "sparsemax": {"": _ADDONS},
    "stateless": {"": "!Use tf.random.stateless_normal, tf.random.stateless_uniform and their like."},
    "summary": {"": "!Use tf.compat.v1.summary in model_fn, or tf.summary with a writer."},
    "tensor_forest": {"": _FORESTS},
    "tensorboard": {"": "!Use the package tensorboard: from tensorboard.plugins import projector."},
    "tensorrt": {"": "!Use tf.experimental.tensorrt."},
    "tfprof": {"": "!Use tf.compat.v1.profiler."},
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
    "util": {
        "constant_value": "tensorflow:get_static_value",
        "make_ndarray": "tensorflow:make_ndarray",
        "make_tensor_proto": "tensorflow:make_tensor_proto",
    },
}


def living_names(namespace: str) -> dict[str, str]:
    """The names of a namespace of `tf.contrib` that live on, and the targets they live at."""
    cells = CONTRIB.get(namespace, {})
    return {name: cell for name, cell in cells.items() if name and not cell.startswith("!") and is_listed(cell)}


def contrib_hint(path: str, installed: bool = False) -> str:
    """What to say when `path` (`contrib`, `contrib.slim`, `contrib.layers.layer_norm`) is asked for in vain.

    Args:
        path: what was asked for, without the leading `tf.`.
        installed: whether the package that carries its namespace on is there, and does not have it either.
    """
    start = f"tf.{path} is gone: TensorFlow removed tf.contrib in 2.0."
    _, _, rest = path.partition(".")
    namespace, _, below = rest.partition(".")
    if not namespace:
        return f"{start} `from lightwell import tf1 as tf` offers the parts of tf.contrib that live on."
    cells = CONTRIB.get(namespace, {})
    # Modules below `python` defined the names that the namespace offered.
    name = below.rpartition(".")[2]
    cell = cells.get(name) or cells.get("", "")
    if cell.startswith("?"):
        package, _, hint = cell[1:].partition(" ")
        return f"{start} {hint}" if not installed else f"{start} The package {package} does not have it either."
    if cell.startswith("!"):
        return f"{start} {cell[1:]}"
    if name in cells:
        try:
            resolve(cell)
        except (AttributeError, ImportError) as error:  # it became a part of tf.estimator that is not here
            return f"{start.removesuffix('.')}, and {error}"
    kept = ", ".join(sorted(living_names(namespace)))
    if kept:
        return f"{start} Of tf.contrib.{namespace} there is: {kept}."
    return f"{start} Nothing under tf.contrib.{namespace} has a successor that Lightwell knows."
