"""Cells of `tf.contrib.eager`."""

from __future__ import annotations

from collections.abc import Mapping

_V1 = "tensorflow:compat.v1"
CELLS: Mapping[str, str] = {
    "": "!Use tf.GradientTape, tf.Variable and tf.compat.v1.enable_eager_execution.",
    "Checkpoint": f"{_V1}.train.Checkpoint",
    "GradientTape": "tensorflow:GradientTape",
    "Iterator": "!Write `for batch in dataset`, or iter(dataset).",
    "Network": "!Use tf.keras.Model.",
    "Saver": "!Use tf.train.Checkpoint.",
    "TensorSpec": "tensorflow:TensorSpec",
    "Variable": "tensorflow:Variable",
    "custom_gradient": "tensorflow:custom_gradient",
    "defun": "tensorflow:function",
    "enable_eager_execution": f"{_V1}.enable_eager_execution",
    "executing_eagerly": f"{_V1}.executing_eagerly",
    "function": "tensorflow:function",
    "in_eager_mode": f"{_V1}.executing_eagerly",
    "list_devices": "!Use tf.config.list_logical_devices.",
    "make_template": f"{_V1}.make_template",
    "metrics": "!Use tf.keras.metrics.",
    "num_gpus": "!Use len(tf.config.list_physical_devices('GPU')).",
    "py_func": "tensorflow:py_function",
}
