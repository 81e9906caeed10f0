"""Uses of every layer, written once for the recorder and for the contract test.

Each case takes the module under test (`tf.compat.v1.layers` of TensorFlow 2.15.1, or ours) and a `Given` that makes its
inputs; it returns the output tensors, and may put further answers into `given.answers`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
Case = Callable[[Any, "Given"], Any]


class Given:
    """Inputs of a case: placeholders with the values to feed, and the answers a case wants compared."""

    def __init__(self) -> None:
        self.feeds: dict[Any, Any] = {}
        self.switch: Any = None
        self.answers: dict[str, Any] = {}
        self._random = np.random.default_rng(0)

    def x(self, *shape: int | None, dtype: Any = tf.float32, batch: int = 4) -> Any:
        """A placeholder; unknown sizes are fed as `batch`."""
        placeholder = v1.placeholder(dtype, shape, name="x")
        value = self._random.normal(size=[batch if size is None else size for size in shape])
        self.feeds[placeholder] = value.astype(tf.as_dtype(dtype).as_numpy_dtype)
        return placeholder

    def training(self) -> Any:
        """A placeholder for `training`, run both ways."""
        self.switch = v1.placeholder(tf.bool, [], name="training")
        return self.switch


def squares(weight: Any) -> Any:
    return 0.5 * tf.reduce_sum(weight * weight)


def total(weight: Any) -> Any:
    return tf.reduce_sum(weight)


def halved(weight: Any) -> Any:
    return weight * 0.5


REGULARIZED = {"kernel_regularizer": squares, "bias_regularizer": total, "activity_regularizer": squares}


def function(kind: str, /, *shape: int | None, **options: Any) -> Case:
    """One call of a function on one input."""
    return lambda layers, given: getattr(layers, kind)(given.x(*shape), **options)


def switched(kind: str, /, *shape: int | None, **options: Any) -> Case:
    """One call of a function whose `training` a run decides."""
    return lambda layers, given: getattr(layers, kind)(given.x(*shape), training=given.training(), **options)


def called_twice(kind: str, /, *shape: int | None, **options: Any) -> Case:
    """One layer object on two inputs, with what it says of itself."""

    def case(layers: Any, given: Given) -> Any:
        layer = getattr(layers, kind)(**options)
        given.answers["name before"] = layer.name
        outputs = [layer(given.x(*shape)), layer.apply(given.x(*shape))]
        given.answers |= {
            "scope": layer.scope_name,
            "dtype": layer.dtype,
            "trainable": [variable.name for variable in layer.trainable_weights],
            "others": [variable.name for variable in layer.non_trainable_variables],
            "parameters": layer.count_params(),
            "updates": [update.name for update in layer.updates],
            "output shape": list(layer.compute_output_shape(tf.TensorShape([7, *shape[1:]]))),
        }
        return outputs

    return case


def _cases_of(table: dict[str, list[tuple[Any, ...]]]) -> dict[str, Case]:
    found = {}
    for name, uses in table.items():
        for number, (shape, options) in enumerate(uses):
            found[f"{name}-{number}"] = function(name, *shape, **options)
    return found


ROW, CUBE, IMAGE, SEQUENCE, VOLUME = (None, 3), (None, 2, 3), (None, 5, 5, 2), (None, 6, 2), (None, 4, 4, 4, 2)
IMAGE_FIRST, SEQUENCE_FIRST, VOLUME_FIRST = (None, 2, 5, 5), (None, 2, 6), (None, 2, 4, 4, 4)
FIRST = {"data_format": "channels_first"}

FUNCTIONS: dict[str, list[tuple[Any, ...]]] = {
    "dense": [
        (ROW, {"units": 2}),
        (ROW, {"units": 2, "use_bias": False, "activation": tf.nn.relu}),
        (CUBE, {"units": 2, "activation": "tanh", **REGULARIZED}),
        (ROW, {"units": 2, "trainable": False, "name": "frozen"}),
        (ROW, {"units": 3, "kernel_constraint": halved, "bias_constraint": halved, "activation": tf.nn.softmax}),
        ((4, 2, 2, 3), {"units": 2, "bias_initializer": v1.ones_initializer()}),
    ],
    "conv1d": [
        (SEQUENCE, {"filters": 3, "kernel_size": 2}),
        (SEQUENCE, {"filters": 3, "kernel_size": [3], "strides": 2, "padding": "same", "activation": tf.nn.relu}),
        (SEQUENCE, {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "padding": "SAME", "use_bias": False}),
        (SEQUENCE, {"filters": 2, "kernel_size": 3, "padding": "causal", "dilation_rate": 2, **REGULARIZED}),
        (SEQUENCE_FIRST, {"filters": 3, "kernel_size": 2, **FIRST}),
    ],
    "conv2d": [
        (IMAGE, {"filters": 3, "kernel_size": 3, "activation": tf.nn.relu}),
        (IMAGE, {"filters": 3, "kernel_size": [3, 2], "strides": (2, 1), "padding": "same"}),
        (IMAGE, {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "use_bias": False}),
        (IMAGE, {"filters": 2, "kernel_size": 3, "dilation_rate": (1, 2), "padding": "same", **REGULARIZED}),
        (IMAGE_FIRST, {"filters": 3, "kernel_size": 3, "name": "first", **FIRST}),
        ((None, None, None, 2), {"filters": 2, "kernel_size": 2, "activation": "elu"}),
    ],
    "conv3d": [
        (VOLUME, {"filters": 2, "kernel_size": 2}),
        (VOLUME, {"filters": 2, "kernel_size": (1, 2, 3), "strides": 2, "padding": "same", "activation": tf.nn.relu}),
        (VOLUME, {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "use_bias": False}),
        (VOLUME_FIRST, {"filters": 2, "kernel_size": 2, **FIRST}),
    ],
    "separable_conv1d": [
        (SEQUENCE, {"filters": 3, "kernel_size": 2}),
        (SEQUENCE, {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same", "activation": tf.nn.relu}),
        (SEQUENCE, {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "depth_multiplier": 2, "use_bias": False}),
        (SEQUENCE, {"filters": 2, "kernel_size": 2, "padding": "causal", "depthwise_regularizer": squares}),
        (SEQUENCE_FIRST, {"filters": 3, "kernel_size": 2, **FIRST}),
    ],
    "separable_conv2d": [
        (IMAGE, {"filters": 3, "kernel_size": 2, "activation": tf.nn.relu}),
        (IMAGE, {"filters": 3, "kernel_size": [3, 2], "strides": 2, "padding": "same", "depth_multiplier": 2}),
        (IMAGE, {"filters": 2, "kernel_size": 2, "dilation_rate": 2, "padding": "same", "use_bias": False}),
        (IMAGE, {"filters": 2, "kernel_size": 2, "pointwise_regularizer": total, "bias_regularizer": squares}),
        (IMAGE_FIRST, {"filters": 3, "kernel_size": 2, **FIRST}),
    ],
    "conv2d_transpose": [
        ((None, 3, 3, 2), {"filters": 3, "kernel_size": 3, "strides": 2}),
        ((None, 3, 3, 2), {"filters": 2, "kernel_size": (4, 2), "strides": (3, 1), "padding": "same", **REGULARIZED}),
        ((4, 3, 3, 2), {"filters": 2, "kernel_size": 1, "strides": 2, "use_bias": False, "activation": tf.nn.relu}),
        ((None, None, None, 2), {"filters": 2, "kernel_size": 2}),
        ((None, 2, 3, 3), {"filters": 2, "kernel_size": 3, "strides": 2, **FIRST}),
    ],
    "conv3d_transpose": [
        ((None, 2, 2, 2, 2), {"filters": 2, "kernel_size": 2, "strides": 2, "activation": tf.nn.relu}),
        ((None, 2, 2, 2, 2), {"filters": 2, "kernel_size": (3, 2, 1), "strides": (1, 2, 3), "padding": "same"}),
        ((None, None, 2, 2, 2), {"filters": 2, "kernel_size": 2, "use_bias": False}),
        ((None, 2, 2, 2, 2), {"filters": 2, "kernel_size": 3, **FIRST}),
    ],
    "flatten": [
        (IMAGE, {}),
        ((None,), {}),
        ((4, None, 3), {"name": "flat"}),
        ((None, None, 3), {}),
        ((4, 2, 3), {}),
        (IMAGE_FIRST, FIRST),
    ],
    "dropout": [
        (ROW, {}),
        (CUBE, {"rate": 0.4, "training": True, "seed": 5}),
        (CUBE, {"rate": 0.4, "noise_shape": [None, 1, 3], "training": True, "seed": 5, "name": "drop"}),
        (ROW, {"rate": 0, "training": True}),
    ],
}  # fmt: skip

POOLING = [
    {"pool_size": 2, "strides": 2},
    {"pool_size": 2, "strides": 1, "padding": "same", "name": "pool"},
    {"pool_size": 3, "strides": 2, "padding": "SAME"},
]
for _kind in ("max", "average"):
    for _rank, _shape, _first in ((1, SEQUENCE, SEQUENCE_FIRST), (2, IMAGE, IMAGE_FIRST), (3, VOLUME, VOLUME_FIRST)):
        FUNCTIONS[f"{_kind}_pooling{_rank}d"] = [
            *[(_shape, options) for options in POOLING],
            (_first, {"pool_size": 2, "strides": 2, **FIRST}),
        ]

NORMALIZED: dict[str, list[tuple[Any, ...]]] = {
    "batch_normalization": [
        (ROW, {}),
        (ROW, {"training": True, "momentum": 0.9, "gamma_regularizer": squares, "beta_regularizer": total}),
        (ROW, {"training": True, "scale": False, "center": False, "epsilon": 0.1}),
        (ROW, {"training": True, "trainable": False}),
        (IMAGE, {}),
        (IMAGE, {"training": True, "momentum": 0.9}),
        (IMAGE, {"training": True, "fused": False, "name": "unfused"}),
        (IMAGE, {"training": True, "fused": True, "scale": False}),
        (IMAGE, {"training": True, "fused": True, "center": False, "gamma_constraint": halved}),
        (IMAGE, {"training": True, "trainable": False}),
        (IMAGE_FIRST, {"training": True, "axis": 1, "fused": False}),
        (IMAGE_FIRST, {"training": False, "axis": 1, "fused": False}),
        (IMAGE, {"training": True, "axis": [1, 3]}),
        (IMAGE, {"training": False, "axis": [1, 3]}),
        (VOLUME, {"training": True}),
        (IMAGE, {"training": True, "virtual_batch_size": 2}),
        (ROW, {"training": False, "virtual_batch_size": 2}),
        (ROW, {"training": True, "renorm": True}),
        (IMAGE, {"training": True, "renorm": True, "renorm_momentum": 0.8,
                 "renorm_clipping": {"rmax": 1.2, "rmin": 0.9, "dmax": 0.1}}),
        (IMAGE_FIRST, {"training": True, "axis": 1, "renorm": True, "scale": False}),
        (ROW, {"training": False, "renorm": True}),
    ],
}  # fmt: skip


def adjusted(layers: Any, given: Given) -> Any:
    def adjustment(shape: Any) -> tuple[Any, Any]:
        return tf.fill([shape[0], 1], 1.5), tf.fill([shape[0], 1], 0.25)

    x = given.x(*ROW)
    return [
        layers.batch_normalization(x, training=True, adjustment=adjustment),
        layers.batch_normalization(x, training=given.training(), adjustment=adjustment),
        layers.batch_normalization(x, training=False, adjustment=adjustment),
    ]


def half_precision(layers: Any, given: Given) -> Any:
    row, image = given.x(*ROW, dtype=tf.float16), given.x(*IMAGE, dtype=tf.float16)
    return [
        layers.batch_normalization(row, training=True),
        layers.batch_normalization(image, training=True),
        layers.dense(row, 2),
        layers.dense(given.x(*ROW, dtype=tf.float64), 2),
        layers.Dense(2, dtype=tf.float64)(given.x(*ROW)),
    ]


SWITCHED: dict[str, Case] = {
    "switched-batch-norm-row": switched("batch_normalization", *ROW, momentum=0.9),
    "switched-batch-norm-image": switched("batch_normalization", *IMAGE, momentum=0.9),
    "switched-batch-norm-unfused": switched("batch_normalization", *IMAGE, fused=False),
    "switched-batch-norm-renorm": switched("batch_normalization", *ROW, renorm=True, renorm_clipping={"rmax": 1.1}),
    "switched-batch-norm-virtual": switched("batch_normalization", *ROW, virtual_batch_size=2),
    "switched-dropout": switched("dropout", *ROW, rate=0.3, seed=4),
    "batch-norm-adjusted": adjusted,
    "other-dtypes": half_precision,
}

CLASSES: dict[str, Case] = {
    "Dense": called_twice("Dense", *ROW, units=2, **REGULARIZED),
    "Conv1D": called_twice("Conv1D", *SEQUENCE, filters=2, kernel_size=2, activation=tf.nn.relu),
    "Conv2D": called_twice("Conv2D", *IMAGE, filters=2, kernel_size=2, padding="same", name="mine"),
    "Conv3D": called_twice("Conv3D", *VOLUME, filters=2, kernel_size=2, strides=2),
    "SeparableConv1D": called_twice("SeparableConv1D", *SEQUENCE, filters=2, kernel_size=2),
    "SeparableConv2D": called_twice("SeparableConv2D", *IMAGE, filters=2, kernel_size=2, trainable=False),
    "Conv2DTranspose": called_twice("Conv2DTranspose", None, 3, 3, 2, filters=2, kernel_size=3, strides=2),
    "Conv3DTranspose": called_twice("Conv3DTranspose", None, 2, 2, 2, 2, filters=2, kernel_size=2, padding="same"),
    "MaxPooling1D": called_twice("MaxPooling1D", *SEQUENCE, pool_size=2, strides=2),
    "MaxPooling2D": called_twice("MaxPooling2D", *IMAGE, pool_size=2, strides=2, padding="same"),
    "MaxPooling3D": called_twice("MaxPooling3D", *VOLUME, pool_size=2, strides=1),
    "AveragePooling1D": called_twice("AveragePooling1D", *SEQUENCE, pool_size=2, strides=2),
    "AveragePooling2D": called_twice("AveragePooling2D", *IMAGE, pool_size=2, strides=2),
    "AveragePooling3D": called_twice("AveragePooling3D", *VOLUME, pool_size=2, strides=2, name="mine"),
    "BatchNormalization": called_twice("BatchNormalization", *ROW, momentum=0.5),
    "Dropout": called_twice("Dropout", *ROW, rate=0.4),
    "Flatten": called_twice("Flatten", *IMAGE),
}

CASES: dict[str, Case] = {**_cases_of(FUNCTIONS), **_cases_of(NORMALIZED), **SWITCHED, **CLASSES}
# TensorFlow 2.15 computes these wrongly on processors with oneDNN, and then others of the same process: only their
# names are recorded. `test_pooling.py` compares their numbers with those of the other layout.
NOT_RUN = {"average_pooling2d-3", "max_pooling2d-3"}
