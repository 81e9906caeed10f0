"""Cells of the namespaces of `tf.contrib` that need a line each, and those that nothing is left of."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import ADDONS, PROBABILITY, V1

_FORESTS = "!Install a decision forest library (ydf, xgboost, lightgbm)."
_SMALLER_MODELS = "!Install the package tensorflow_model_optimization."
# Namespaces that nothing is left of.
_EMPTY = """
    cloud cmake coder constrained_optimization decision_trees fused_conv graph_editor grid_rnn hooks input_pipeline
    kernel_methods labeled_tensor legacy_seq2seq linear_optimizer meta_graph_transform ndlstm nearest_neighbor
    periodic_resample rate receptive_field recurrent reduce_slice_ops remote_fused_graph rpc session_bundle solvers
    specs staging stat_summarizer testing text
"""
_IO = "!Install the package tensorflow_io, or read the data with tf.data.Dataset.from_generator."
_NCCL = "!Use tf.distribute.MirroredStrategy, which adds gradients up over the devices of a machine."
_LITE = "tensorflow:compat.v1.lite"


def _same(place: str, names: str) -> dict[str, str]:
    """Names that live on, unchanged, in a namespace of TensorFlow."""
    return {name: f"tensorflow:{place}.{name}" for name in names.split()}


# Its modules are those of `tf.keras`.
_KERAS = """
    activations applications backend callbacks constraints datasets initializers layers losses metrics models optimizers
    preprocessing regularizers utils wrappers
"""

NAMESPACES: Mapping[str, Mapping[str, str]] = {name: {} for name in _EMPTY.split()} | {
    "all_reduce": {"": _NCCL},
    "autograph": {
        "": "!Use tf.autograph.",
        "do_not_convert": "tensorflow:autograph.experimental.do_not_convert",
    }
    | _same("compat.v1.autograph", "to_code to_graph"),
    "batching": {
        "": "!Use tf.nondifferentiable_batch_function.",
        "batch_function": "tensorflow:nondifferentiable_batch_function",
    },
    "bayesflow": {"": PROBABILITY},
    "bigtable": {"": _IO},
    "boosted_trees": {
        "": "!Install a decision forest library (ydf, xgboost, lightgbm), or use tf.estimator.BoostedTreesClassifier."
    },
    "checkpoint": {"": "!Use tf.train.Checkpoint and tf.train.CheckpointManager."},
    "compiler": {
        "": "!Use tf.function(jit_compile=True).",
        "jit": "lightwell.compat.contrib.jit",
        "xla": "tensorflow:xla.experimental",
    },
    "copy_graph": {"": "!Use tf.compat.v1.import_graph_def(graph.as_graph_def(), name='')."},
    "distributions": {"": PROBABILITY},
    "factorization": {
        "KMeansClustering": f"{V1}.experimental:KMeans",
        "": "!Of tf.contrib.factorization there is KMeansClustering; compute other factors in a model_fn.",
    }
    | {
        name: f"{V1}.experimental:KMeans.{name}"
        for name in ("COSINE_DISTANCE", "KMEANS_PLUS_PLUS_INIT", "RANDOM_INIT", "SQUARED_EUCLIDEAN_DISTANCE")
    },
    "feature_column": {
        "": "!Use tf.feature_column, which has the sequence columns.",
        "sequence_input_layer": "!Use tf.keras.experimental.SequenceFeatures(columns)(features).",
    }
    | _same(
        "feature_column",
        """
        sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity
        sequence_categorical_column_with_vocabulary_file sequence_categorical_column_with_vocabulary_list
        sequence_numeric_column
        """,
    ),
    "ffmpeg": {"": "!Use tf.audio.decode_wav and tf.audio.encode_wav."},
    "gan": {"": "?tensorflow_gan The package tensorflow_gan carries it on: pip install tensorflow_gan."},
    "hadoop": {"": _IO},
    "hparam": {"HParams": "lightwell.compat.contrib.training.hparam:HParams"},
    "ignite": {"": _IO},
    "integrate": {"": PROBABILITY},
    "kafka": {"": _IO},
    "keras": {name: f"lightwell.compat.tf1.keras:{name}" for name in _KERAS.split()} | {"": "!Use tf.keras."},
    "kfac": {"": "!Use an optimizer of tf.compat.v1.train or tf.keras.optimizers."},
    "kinesis": {"": _IO},
    "libsvm": {"": _IO},
    "linalg": {
        "": "!Use tf.linalg.",
        "LinearOperatorTriL": "tensorflow:linalg.LinearOperatorLowerTriangular",
        "LinearOperatorUDVHUpdate": "tensorflow:linalg.LinearOperatorLowRankUpdate",
    }
    | _same(
        "linalg",
        """
        LinearOperator LinearOperatorBlockDiag LinearOperatorComposition LinearOperatorDiag LinearOperatorFullMatrix
        LinearOperatorIdentity LinearOperatorScaledIdentity
        """,
    ),
    "lite": {"": "!Use tf.lite."}
    | {name: f"{_LITE}.{name}" for name in ("Interpreter", "OpHint", "TFLiteConverter", "TocoConverter")}
    | {
        name: f"{_LITE}.constants.{name}"
        for name in ("FLOAT", "GRAPHVIZ_DOT", "INT32", "INT64", "QUANTIZED_UINT8", "STRING")
    }
    | {"convert_op_hints_to_stubs": f"{_LITE}.experimental.convert_op_hints_to_stubs"},
    "memory_stats": {"": "!Use tf.config.experimental.get_memory_info."},
    "model_pruning": {"": _SMALLER_MODELS},
    "nccl": {"": _NCCL},
    "nn": {"": "!Use tf.nn."},
    "optimizer_v2": {"": "!Use tf.keras.optimizers.", "OptimizerV2": "tensorflow:compat.v1.train.Optimizer"}
    | _same(
        "compat.v1.train",
        """
        AdadeltaOptimizer AdagradOptimizer AdamOptimizer GradientDescentOptimizer MomentumOptimizer RMSPropOptimizer
        """,
    ),
    "predictor": {
        "": "!Use estimator.predictor(), or lightwell.from_saved_model(folder).predictor() for an exported model.",
        "from_estimator": "lightwell.compat.contrib.predictor:from_estimator",
        "from_saved_model": "lightwell.compat.contrib.predictor:from_saved_model",
    },
    "proto": {"": "!Use tf.io.decode_proto and tf.io.encode_proto."} | _same("io", "decode_proto encode_proto"),
    "quantization": {"": "!Use tf.quantization."},
    "quantize": {"": _SMALLER_MODELS},
    "resampler": {"": ADDONS},
    "saved_model": {"": "!Use tf.compat.v1.saved_model."},
    "signal": {"": "!Use tf.signal."}
    | _same(
        "signal",
        """
        frame hamming_window hann_window inverse_stft inverse_stft_window_fn linear_to_mel_weight_matrix
        mfccs_from_log_mel_spectrograms overlap_and_add stft
        """,
    ),
    "sparsemax": {"": ADDONS},
    "stateless": {
        "stateless_multinomial": "tensorflow:compat.v1.random.stateless_multinomial",
        "stateless_random_normal": "tensorflow:random.stateless_normal",
        "stateless_random_uniform": "tensorflow:random.stateless_uniform",
        "stateless_truncated_normal": "tensorflow:random.stateless_truncated_normal",
    },
    "tensor_forest": {"": _FORESTS},
    "tensorrt": {"": "!Use tf.experimental.tensorrt."},
    "tfprof": {"": "!Use tf.compat.v1.profiler."},
    "timeseries": {"": "!Use Estimator with a model_fn over windows of the series."},
    "util": {
        "constant_value": "tensorflow:get_static_value",
        "make_ndarray": "tensorflow:make_ndarray",
        "make_tensor_proto": "tensorflow:make_tensor_proto",
    },
}
