"""Where the namespace of TensorFlow 1 differs from `tf.compat.v1`: data that the namespace and `lightwell doctor` read.

Owns `OURS`, names of `tf` -> what they are here, `EXAMPLES`, the same below `tf.examples`, `PRIVATE`, the same for
private modules, and `GONE`, names that have no successor -> what to use.
"""

from __future__ import annotations

from collections.abc import Mapping

# What is not simply `tf.compat.v1.<name>`.
OURS: Mapping[str, str] = {
    "compat": "lightwell.tf1.compat",
    "contrib": "lightwell.tf1.contrib",
    "enable_tf1_behavior": "lightwell.tf1.behavior:enable_tf1_behavior",
    "estimator": "lightwell.compat.v1.estimator",
    "examples": "lightwell.tf1.examples",
    "keras": "tensorflow:keras",
    "layers": "lightwell.layers",
    "nn": "lightwell.tf1.nn",
}
# What is there of `tf.examples`.
EXAMPLES: Mapping[str, str] = {"tutorials.mnist.input_data": "lightwell.contrib.learn.datasets.mnist"}
# Private modules from which programs take what is another thing today: module -> name -> what it was.
_DATASETS = ("Dataset", "FixedLengthRecordDataset", "Iterator", "TFRecordDataset", "TextLineDataset")
PRIVATE: Mapping[str, Mapping[str, str]] = {
    "tensorflow.python.data": {name: f"tensorflow:compat.v1.data.{name}" for name in _DATASETS},
    "tensorflow.python.data.ops.dataset_ops": {"Dataset": "tensorflow:compat.v1.data.Dataset"},
}
GONE: Mapping[str, str] = {
    "pywrap_tensorflow": "Use tf.train.NewCheckpointReader and tf.train.load_checkpoint to read checkpoints.",
}
