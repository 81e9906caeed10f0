"""Models that TensorFlow 1.15.5 and 2.15.1 trained and that are trained on here: a CNN, batch normalization, an LSTM.

The same code runs there (Python 3.7) and here: `Library` says whose Estimator, layers and cells are used. The CNN is
that of the old layers tutorial with fewer filters and units (4, 8 and 32 in place of 32, 64 and 1024), so that its
checkpoint with Adam's slots stays small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
KINDS = ("cnn", "batch_norm", "lstm")
EXAMPLES, BATCH, CLASSES = 48, 8, 3


@dataclass(frozen=True)
class Library:
    """Whose Estimator (and spec, config), layers and cells."""

    estimator: Any
    layers: Any
    rnn_cell: Any


def data(kind: str) -> tuple[Any, Any]:
    """Noise with a pattern of its own for each class."""
    random = np.random.RandomState(5)
    labels = random.randint(0, CLASSES, EXAMPLES)
    shape = {"cnn": (28 * 28,), "batch_norm": (6,), "lstm": (7, 4)}[kind]
    patterns = random.uniform(-1, 1, (CLASSES, *shape))
    features = {"x": (patterns[labels] + 0.5 * random.randn(EXAMPLES, *shape)).astype(np.float32)}
    if kind == "lstm":
        features["length"] = random.randint(3, 8, EXAMPLES).astype(np.int32)
    return features, labels.astype(np.int32)


def input_fn(kind: str, repeat: bool) -> Callable[[], Any]:
    def give() -> Any:
        dataset = tf.data.Dataset.from_tensor_slices(data(kind)).batch(BATCH)
        return dataset.repeat() if repeat else dataset

    return give


def _glorot(seed: int) -> Any:
    return v1.glorot_uniform_initializer(seed=seed)


def _cnn(lib: Library, features: Any, training: bool) -> Any:
    net = tf.reshape(features["x"], [-1, 28, 28, 1])
    for seed, filters in enumerate((4, 8)):
        net = lib.layers.conv2d(
            inputs=net,
            filters=filters,
            kernel_size=[5, 5],
            padding="same",
            activation=tf.nn.relu,
            kernel_initializer=_glorot(seed),
        )
        net = lib.layers.max_pooling2d(inputs=net, pool_size=[2, 2], strides=2)
    net = tf.reshape(net, [-1, 7 * 7 * 8])
    net = lib.layers.dense(inputs=net, units=32, activation=tf.nn.relu, kernel_initializer=_glorot(3))
    net = lib.layers.dropout(inputs=net, rate=0.4, seed=4, training=training)
    return lib.layers.dense(inputs=net, units=CLASSES, kernel_initializer=_glorot(5))


def _batch_norm(lib: Library, features: Any, training: bool) -> Any:
    net = lib.layers.dense(features["x"], 12, kernel_initializer=_glorot(1))
    net = lib.layers.batch_normalization(net, momentum=0.9, training=training)
    net = lib.layers.dense(tf.nn.relu(net), 8, kernel_initializer=_glorot(2), name="second")
    net = lib.layers.batch_normalization(net, momentum=0.8, training=training, name="second_norm")
    return lib.layers.dense(tf.nn.relu(net), CLASSES, kernel_initializer=_glorot(3))


def _lstm(lib: Library, features: Any, training: bool) -> Any:
    cell = lib.rnn_cell.LSTMCell(10, use_peepholes=True, initializer=_glorot(1))
    outputs, state = v1.nn.dynamic_rnn(cell, features["x"], features["length"], dtype=tf.float32)
    both = tf.concat([tf.reduce_max(outputs, axis=1), state.c], axis=1)
    return lib.layers.dense(both, CLASSES, kernel_initializer=_glorot(2))


_LOGITS = {"cnn": _cnn, "batch_norm": _batch_norm, "lstm": _lstm}
_OPTIMIZERS = {
    "cnn": lambda: v1.train.AdamOptimizer(0.003),
    "batch_norm": lambda: v1.train.MomentumOptimizer(0.01, 0.9),
    "lstm": lambda: v1.train.AdamOptimizer(0.01),
}


def model_fn(lib: Library, kind: str) -> Callable[..., Any]:
    def build(features: Any, labels: Any, mode: str) -> Any:
        spec = lib.estimator.EstimatorSpec
        logits = _LOGITS[kind](lib, features, mode == "train")
        predictions = {"logits": logits, "classes": tf.argmax(logits, 1)}
        if mode == "infer":
            return spec(mode, predictions=predictions)
        loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == "eval":
            return spec(
                mode, loss=loss, eval_metric_ops={"accuracy": v1.metrics.accuracy(labels, predictions["classes"])}
            )
        with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
            train_op = _OPTIMIZERS[kind]().minimize(loss, global_step=v1.train.get_global_step())
        return spec(mode, loss=loss, train_op=train_op)

    return build


class Losses(v1.train.SessionRunHook):  # type: ignore[misc]
    """Keeps the loss of each step."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(v1.losses.get_losses()[0])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.values.append(float(run_values.results))


def make(lib: Library, kind: str, model_dir: str) -> Any:
    return lib.estimator.Estimator(model_fn(lib, kind), model_dir, lib.estimator.RunConfig(tf_random_seed=3))


def train(lib: Library, kind: str, model_dir: str, steps: int) -> list[float]:
    """The losses of some training steps."""
    losses = Losses()
    make(lib, kind, model_dir).train(input_fn(kind, repeat=True), hooks=[losses], steps=steps)
    return losses.values


def resume(lib: Library, kind: str, model_dir: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Evaluates and predicts from what is in `model_dir`, then trains on: (numbers, arrays)."""
    est = make(lib, kind, model_dir)
    evaluation = {key: float(value) for key, value in est.evaluate(input_fn(kind, repeat=False)).items()}
    rows = list(est.predict(input_fn(kind, repeat=False)))
    arrays = {f"predictions:{key}": np.stack([row[key] for row in rows]) for key in rows[0]}
    losses = train(lib, kind, model_dir, steps=10)
    names = sorted(est.get_variable_names())
    arrays.update({f"values:{name}": est.get_variable_value(name) for name in names})
    return {"evaluation": evaluation, "losses": losses, "variables": names}, arrays
