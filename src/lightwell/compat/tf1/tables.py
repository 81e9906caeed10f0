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
_PYTHON = "tensorflow.python"
_V1 = "tensorflow:compat.v1"


def _named(module: str, names: str) -> dict[str, str]:
    """The same names of another module or page."""
    separator = "." if ":" in module else ":"
    return {name: f"{module}{separator}{name}" for name in names.split()}


_LAYERS = {
    "base": "InputSpec Layer",
    "core": "Dense Dropout Flatten dense dropout flatten",
    "convolutional": """
        Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose SeparableConv1D SeparableConv2D conv1d conv2d
        conv2d_transpose conv3d conv3d_transpose separable_conv1d separable_conv2d
    """,
    "normalization": "BatchNormalization batch_normalization",
    "pooling": """
        AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D average_pooling1d
        average_pooling2d average_pooling3d max_pooling1d max_pooling2d max_pooling3d
    """,
}
_LAYERS["layers"] = " ".join(_LAYERS.values())
_CELLS = """
    BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
    ResidualWrapper
"""
PRIVATE: Mapping[str, Mapping[str, str]] = {
    **{f"{_PYTHON}.layers.{module}": _named("lightwell.layers", names) for module, names in _LAYERS.items()},
    f"{_PYTHON}.eager.function": {"defun": "tensorflow:function"},
    f"{_PYTHON}.framework.graph_util": _named(
        f"{_V1}.graph_util",
        "convert_variables_to_constants extract_sub_graph must_run_on_cpu remove_training_nodes",
    ),
    f"{_PYTHON}.framework.ops": _named("tensorflow", "IndexedSlices Tensor register_tensor_conversion_function"),
    f"{_PYTHON}.ops.control_flow_ops": _named(_V1, "Assert case cond while_loop"),
    f"{_PYTHON}.ops.functional_ops": _named(_V1, "foldl foldr map_fn scan"),
    f"{_PYTHON}.ops.nn": _named(
        f"{_V1}.nn", "bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn"
    )
    | {"rnn_cell": "lightwell.rnn_cell"},
    f"{_PYTHON}.ops.rnn_cell": _named("lightwell.rnn_cell", _CELLS),
    f"{_PYTHON}.ops.rnn_cell_impl": _named("lightwell.rnn_cell", _CELLS),
    f"{_PYTHON}.pywrap_tensorflow": {"NewCheckpointReader": f"{_V1}.train.NewCheckpointReader"},
    f"{_PYTHON}.training.checkpointable.base": {"CheckpointableBase": f"{_PYTHON}.trackable.base:Trackable"},
    f"{_PYTHON}.training.checkpointable.tracking": {
        "Checkpointable": f"{_PYTHON}.trackable.autotrackable:AutoTrackable"
    },
    f"{_PYTHON}.util.nest": {"is_sequence": "tensorflow:nest.is_nested"},
    "tensorflow.python.data": {name: f"tensorflow:compat.v1.data.{name}" for name in _DATASETS},
    "tensorflow.python.data.ops.dataset_ops": {"Dataset": "tensorflow:compat.v1.data.Dataset"},
    private_columns.OLD_MODULE: {name: f"lightwell.foreign.private_columns:{name}" for name in private_columns.CHANGED},
}
GONE: Mapping[str, str] = {
    "pywrap_tensorflow": "Use tf.train.NewCheckpointReader and tf.train.load_checkpoint to read checkpoints.",
}
