"""The models and the data that recordings and parity tests share.

Takes the estimator module to speak to (`tf.estimator` of TF 2.15 when recording, `lightwell` when testing) and gives
`model_fn`s of raw variables and `tf.nn` ops, so that both sides build the same arithmetic. Works on TF 2.15 and newer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

LOSS = "the_loss"
SHAPES: dict[str, dict[str, tuple[int, ...]]] = {
    "mlp": {"hidden/kernel": (8, 16), "hidden/bias": (16,), "logits/kernel": (16, 3), "logits/bias": (3,)},
    "cnn": {
        "conv/kernel": (3, 3, 1, 4),
        "conv/bias": (4,),
        "dense/kernel": (64, 8),
        "dense/bias": (8,),
        "logits/kernel": (8, 3),
        "logits/bias": (3,),
    },
}
BATCH, ROWS = 16, 64


def initial_values(kind: str) -> dict[str, Any]:
    """Fresh starting weights; recorded once, so that no test depends on NumPy's generator."""
    random = np.random.RandomState(11)
    return {name: (0.3 * random.normal(size=shape)).astype(np.float32) for name, shape in SHAPES[kind].items()}


def arrays(kind: str) -> tuple[Any, Any]:
    """The features and labels of a learnable three-class problem, by arithmetic alone."""
    width = 8 if kind == "mlp" else 64
    grid = np.arange(ROWS * width, dtype=np.float64).reshape(ROWS, width)
    x = np.sin(grid * 0.7) + 0.5 * np.cos(grid * 1.3)
    y = np.digitize(x[:, :3].sum(axis=1), [-0.6, 0.6])
    return x.astype(np.float32), y.astype(np.int64)


def input_fn(kind: str, repeat: bool) -> Callable[[], Any]:
    """Batches in a fixed order."""

    def batches() -> Any:
        x, y = arrays(kind)
        dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
        return (dataset.repeat() if repeat else dataset).batch(BATCH)

    return batches


def _variables(kind: str, initial: dict[str, Any] | None) -> dict[str, Any]:
    if initial is None:
        return {name: v1.get_variable(name, shape) for name, shape in SHAPES[kind].items()}
    return {
        name: v1.get_variable(name, value.shape, initializer=v1.constant_initializer(value))
        for name, value in initial.items()
    }


def _logits(kind: str, x: Any, w: dict[str, Any]) -> Any:
    if kind == "mlp":
        hidden = tf.nn.relu(tf.matmul(x, w["hidden/kernel"]) + w["hidden/bias"])
        return tf.matmul(hidden, w["logits/kernel"]) + w["logits/bias"]
    image = tf.reshape(x, [-1, 8, 8, 1])
    conv = tf.nn.relu(tf.nn.conv2d(image, w["conv/kernel"], strides=1, padding="SAME") + w["conv/bias"])
    pooled = tf.reshape(tf.nn.max_pool2d(conv, ksize=2, strides=2, padding="SAME"), [-1, 64])
    dense = tf.nn.relu(tf.matmul(pooled, w["dense/kernel"]) + w["dense/bias"])
    return tf.matmul(dense, w["logits/kernel"]) + w["logits/bias"]


def _load_at_start(w: dict[str, Any], values: dict[str, Any]) -> Any:
    """A Scaffold whose `init_fn` puts `values` into the variables."""
    feeds = {name: v1.placeholder(tf.float32, value.shape) for name, value in values.items()}
    load = tf.group(*[v1.assign(w[name], feed) for name, feed in feeds.items()])
    return v1.train.Scaffold(
        init_fn=lambda _, session: session.run(load, {feed: values[name] for name, feed in feeds.items()})
    )


def classifier(lib: Any, kind: str) -> Callable[..., Any]:
    """A three-class model. Weights: `params["init_fn"]` by `Scaffold.init_fn`, `params["initial"]` by initializers."""

    def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
        w = _variables(kind, params.get("initial"))
        scaffold = _load_at_start(w, params["init_fn"]) if "init_fn" in params else None
        logits = _logits(kind, features["x"], w)
        probabilities = tf.nn.softmax(logits)
        predictions = {"probabilities": probabilities, "class": tf.argmax(logits, axis=1), "logits": logits}
        if mode == lib.ModeKeys.PREDICT:
            return lib.EstimatorSpec(mode, predictions=predictions)
        errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.identity(tf.reduce_mean(errors), name=LOSS)
        v1.summary.scalar("largest_probability", tf.reduce_max(probabilities))
        v1.summary.histogram("logits_weights", w["logits/kernel"])
        metrics = {
            "accuracy": v1.metrics.accuracy(labels, predictions["class"]),
            "middle_auc": v1.metrics.auc(tf.equal(labels, 1), probabilities[:, 1]),
            "confidence": v1.metrics.mean(tf.reduce_max(probabilities, axis=1)),
        }
        train_op = v1.train.AdamOptimizer(0.02).minimize(loss, global_step=v1.train.get_global_step())
        return lib.EstimatorSpec(
            mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics, scaffold=scaffold
        )

    return model_fn


def seeded(lib: Any) -> Callable[..., Any]:
    """A model whose starting weights are drawn by the graph seed."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        kernel = v1.get_variable("dense/kernel", [8, 3])
        bias = v1.get_variable("dense/bias", [3], initializer=v1.zeros_initializer())
        drawn = v1.get_variable("drawn", [3], initializer=v1.truncated_normal_initializer())
        logits = tf.nn.dropout(tf.matmul(features["x"], kernel) + bias + drawn, rate=0.5)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        train_op = v1.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=v1.train.get_global_step())
        return lib.EstimatorSpec(mode, loss=tf.identity(loss, name=LOSS), train_op=train_op)

    return model_fn


class Losses(v1.train.SessionRunHook):  # type: ignore[misc]
    """Keeps the loss of every step."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(f"{LOSS}:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(float(run_values.results))
