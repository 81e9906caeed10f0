"""The digit CNN that the other examples use: data, input function and model function.

The data are scikit-learn's 1,797 handwritten digits of 8 x 8 pixels, so nothing is downloaded. The model function is
written the way a `tf.estimator` program of 2018 was; only the import has changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

import lightwell as lw

v1 = tf.compat.v1


def load() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Training and test digits as `{"x": images, "y": labels}`, shuffled once with a fixed seed."""
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    images = (digits.images[order] / 16.0).astype(np.float32)
    labels = digits.target[order].astype(np.int64)
    return {"x": images[:1500], "y": labels[:1500]}, {"x": images[1500:], "y": labels[1500:]}


def input_fn(data: dict[str, np.ndarray], mode: str, batch_size: int = 32) -> tf.data.Dataset:
    """Batches of `({"x": images}, labels)`; without end in training."""
    dataset = tf.data.Dataset.from_tensor_slices(({"x": data["x"]}, data["y"]))
    if mode == lw.ModeKeys.TRAIN:
        dataset = dataset.shuffle(1500).repeat()
    return dataset.batch(batch_size)


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> lw.EstimatorSpec:
    """Two convolutions, two dense layers, dropout between."""
    net = tf.reshape(features["x"], [-1, 8, 8, 1])
    net = lw.layers.conv2d(net, filters=16, kernel_size=[3, 3], padding="same", activation=tf.nn.relu)
    net = lw.layers.max_pooling2d(net, pool_size=[2, 2], strides=2)
    net = lw.layers.conv2d(net, filters=32, kernel_size=[3, 3], padding="same", activation=tf.nn.relu)
    net = lw.layers.max_pooling2d(net, pool_size=[2, 2], strides=2)
    net = lw.layers.dense(lw.layers.flatten(net), units=64, activation=tf.nn.relu)
    net = lw.layers.dropout(net, rate=0.4, training=mode == lw.ModeKeys.TRAIN)
    logits = lw.layers.dense(net, units=10)

    predictions = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions=predictions)

    loss = v1.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    train_op = v1.train.AdamOptimizer(params["learning_rate"]).minimize(loss, global_step=v1.train.get_global_step())
    accuracy = v1.metrics.accuracy(labels=labels, predictions=predictions["classes"])
    return lw.EstimatorSpec(mode, predictions, loss, train_op, eval_metric_ops={"accuracy": accuracy})
