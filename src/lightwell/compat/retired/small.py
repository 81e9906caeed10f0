"""Cells of the namespaces of `tf.contrib` that need a line each, and those that nothing is left of."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import ADDONS, PROBABILITY, V1

_FORESTS = "!Install a decision forest library (ydf, xgboost, lightgbm)."
_SMALLER_MODELS = "!Install the package tensorflow_model_optimization."
# Namespaces that nothing is left of.
_EMPTY = """
    cloud constrained_optimization graph_editor grid_rnn input_pipeline kernel_methods labeled_tensor legacy_seq2seq
    linear_optimizer periodic_resample receptive_field recurrent reduce_slice_ops remote_fused_graph rpc solvers specs
    staging stat_summarizer testing
"""


NAMESPACES: Mapping[str, Mapping[str, str]] = {name: {} for name in _EMPTY.split()} | {
    "autograph": {"": "!Use tf.autograph."},
    "batching": {"": "!Use tf.nondifferentiable_batch_function."},
    "bayesflow": {"": PROBABILITY},
    "boosted_trees": {"": _FORESTS},
    "checkpoint": {"": "!Use tf.train.Checkpoint and tf.train.CheckpointManager."},
    "compiler": {"": "!Use tf.function(jit_compile=True)."},
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
    "feature_column": {"": "!Use tf.feature_column, which has the sequence columns."},
    "ffmpeg": {"": "!Use tf.audio.decode_wav and tf.audio.encode_wav."},
    "gan": {"": "?tensorflow_gan The package tensorflow_gan carries it on: pip install tensorflow_gan."},
    "hparam": {"HParams": "lightwell.compat.contrib.training.hparam:HParams"},
    "integrate": {"": PROBABILITY},
    "keras": {"": "!Use tf.keras."},
    "lite": {"": "!Use tf.lite."},
    "memory_stats": {"": "!Use tf.config.experimental.get_memory_info."},
    "mixed_precision": {"": "!Use tf.keras.mixed_precision."},
    "model_pruning": {"": _SMALLER_MODELS},
    "nn": {"": "!Use tf.nn."},
    "optimizer_v2": {"": "!Use tf.keras.optimizers."},
    "predictor": {
        "": "!Use estimator.predictor(), or lightwell.from_saved_model(folder).predictor() for an exported model.",
        "from_estimator": "lightwell.compat.contrib.predictor:from_estimator",
        "from_saved_model": "lightwell.compat.contrib.predictor:from_saved_model",
    },
    "proto": {"": "!Use tf.io.decode_proto and tf.io.encode_proto."},
    "quantization": {"": "!Use tf.quantization."},
    "quantize": {"": _SMALLER_MODELS},
    "resampler": {"": ADDONS},
    "saved_model": {"": "!Use tf.compat.v1.saved_model."},
    "signal": {"": "!Use tf.signal."},
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
