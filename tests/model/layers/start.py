"""A small network with default initializers under a graph seed: its starting weights and one dropout mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def seeded_start(layers: Any) -> dict[str, Any]:
    with tf.Graph().as_default():
        v1.set_random_seed(11)
        image = tf.constant(np.random.default_rng(3).normal(size=[2, 6, 6, 1]), tf.float32)
        hidden = layers.conv2d(image, 3, 3, activation=tf.nn.relu)
        hidden = layers.max_pooling2d(hidden, 2, 2)
        hidden = layers.dense(layers.flatten(hidden), 5)
        hidden = layers.dropout(hidden, 0.4, training=True)
        logits = layers.dense(layers.batch_normalization(hidden, training=True), 2)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            start = {variable.name: session.run(variable) for variable in v1.global_variables()}
            return {**start, "dropped": session.run(hidden), "logits": session.run(logits)}
