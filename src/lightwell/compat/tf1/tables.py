"""Where the namespace of TensorFlow 1 differs from `tf.compat.v1`: data that the namespace and `lightwell doctor` read.

`OURS` maps names of `tf` to their targets, `EXAMPLES` names below `tf.examples`, `PRIVATE` names of private modules.
`GONE` maps names without a successor to what to use.
"""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.foreign import private_columns

# What is not simply `tf.compat.v1.<name>`.
OURS: Mapping[str, str] = {
    "compat": "lightwell.compat.tf1.compat",
    "contrib": "lightwell.compat.tf1.contrib",
    "enable_tf1_behavior": "lightwell.compat.tf1.behavior:enable_tf1_behavior",
    "estimator": "lightwell.compat.v1.estimator",
    "examples": "lightwell.compat.tf1.examples",
    "keras": "lightwell.compat.tf1.keras",
    "layers": "lightwell.layers",
    "nn": "lightwell.compat.tf1.nn",
}
# The names of `tf.examples` that exist.
EXAMPLES: Mapping[str, str] = {"tutorials.mnist.input_data": "lightwell.compat.contrib.learn.datasets.mnist"}
# Private modules whose names changed their meaning: module -> name -> target.
_DATASETS = ("Dataset", "FixedLengthRecordDataset", "Iterator", "TFRecordDataset", "TextLineDataset")
PRIVATE: Mapping[str, Mapping[str, str]] = {
    "tensorflow.python.data": {name: f"tensorflow:compat.v1.data.{name}" for name in _DATASETS},
    "tensorflow.python.data.ops.dataset_ops": {"Dataset": "tensorflow:compat.v1.data.Dataset"},
    private_columns.OLD_MODULE: {name: f"lightwell.foreign.private_columns:{name}" for name in private_columns.CHANGED},
}
GONE: Mapping[str, str] = {
    "pywrap_tensorflow": "Use tf.train.NewCheckpointReader and tf.train.load_checkpoint to read checkpoints.",
}
