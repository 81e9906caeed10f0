"""An Estimator of `tf.contrib.layers`, for TensorFlow 1.15.5 and for `lightwell.tf1`: a small net over small images."""

from __future__ import annotations

from typing import Any

import numpy as np

_DRAWS = np.random.RandomState(5)
IMAGES = _DRAWS.normal(size=[12, 6, 6, 2]).astype(np.float32)
LABELS = (IMAGES.mean(axis=(1, 2, 3)) > 0).astype(np.int32)
STEPS, MORE = 8, 4


def estimator(tf: Any, folder: str) -> Any:
    """The Estimator, in a folder."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        layers = tf.contrib.layers
        training = mode == tf.estimator.ModeKeys.TRAIN
        with tf.contrib.framework.arg_scope([layers.batch_norm], is_training=training, decay=0.9):
            net = layers.conv2d(features["image"], 4, [3, 3], normalizer_fn=layers.batch_norm)
            net = layers.max_pool2d(net, [2, 2])
            net = layers.flatten(net)
            net = layers.fully_connected(net, 5, weights_regularizer=layers.l2_regularizer(0.01))
            net = layers.batch_norm(net, scale=True)
        logits = layers.fully_connected(net, 2, activation_fn=None, scope="logits")
        predictions = {"logits": logits}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions)
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + tf.losses.get_regularization_loss()
        train_op = layers.optimize_loss(
            loss, tf.contrib.framework.get_global_step(), 0.02, "Adam", clip_gradients=1.0, summaries=["loss"]
        )
        metrics = {"accuracy": tf.contrib.metrics.streaming_accuracy(tf.argmax(logits, 1), tf.cast(labels, tf.int64))}
        return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, metrics)

    config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=1, save_checkpoints_steps=1000)
    return tf.estimator.Estimator(model_fn, config=config)


def batches(tf: Any) -> Any:
    """Three batches of four images, without end."""
    return tf.data.Dataset.from_tensor_slices(({"image": IMAGES}, LABELS)).repeat().batch(4)


def train_on(tf: Any, folder: str) -> dict[str, Any]:
    """What becomes of a trained model in some more steps."""
    made = estimator(tf, folder)
    before = made.evaluate(lambda: batches(tf), steps=3)
    made.train(lambda: batches(tf), steps=MORE)
    after = made.evaluate(lambda: batches(tf), steps=3)
    rows = made.predict(lambda: batches(tf).take(3), yield_single_examples=True)
    return {
        "before": {name: float(value) for name, value in before.items()},
        "after": {name: float(value) for name, value in after.items()},
        "logits": [row["logits"].tolist() for row in rows],
        "variables": {name: made.get_variable_value(name).tolist() for name in made.get_variable_names()},
    }
