"""A model of pictures, its data with keys, and a model of nothing but its features in all their forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
COUNT, BATCH = 100, 8
_random = np.random.default_rng(3)
X = _random.random((COUNT, 6, 6, 1), np.float32)
Y = (np.arange(COUNT) % 3).astype(np.int32)
IDS = np.array([f"id{i:03d}" for i in range(COUNT)])


def data(batch: int = BATCH) -> Any:
    """Thirteen batches, the last of four."""
    return tf.data.Dataset.from_tensor_slices(({"x": X, "id": IDS}, Y)).batch(batch)


def pictures(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    net = lw.layers.conv2d(features["x"], 2, 3, activation=tf.nn.relu)
    net = lw.layers.dense(lw.layers.flatten(net), 5, activation=tf.nn.relu)
    logits = lw.layers.dense(net, 3, name="logits")
    predictions = {"probabilities": tf.nn.softmax(logits), "class": tf.argmax(logits, 1)}
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = v1.train.AdamOptimizer(0.01).minimize(loss, v1.train.get_global_step())
    metrics = {"accuracy": v1.metrics.accuracy(labels, predictions["class"])}
    return lw.EstimatorSpec(mode, predictions, loss, train_op, metrics)


def trained(folder: Path | str) -> lw.Estimator:
    """One with checkpoints of the steps 0, 10 and 20."""
    made = lw.Estimator(pictures, config=lw.RunConfig(str(folder), tf_random_seed=1, save_checkpoints_steps=10))
    made.train(lambda: data().repeat(), steps=20)
    return made
