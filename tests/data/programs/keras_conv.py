"""TensorFlow 2 spelling: Keras layers in model_fn; the activations of a convolution are one of the predictions."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    conv = tf.keras.layers.Conv2D(32, (3, 3), activation="relu")(features["image"])
    conv = tf.identity(conv, name="conv_layer_output")
    net = tf.keras.layers.BatchNormalization(momentum=0.3)(conv, training=training)
    net = tf.keras.layers.Dropout(0.2)(net, training=training)
    net = tf.keras.layers.GlobalAveragePooling2D()(net)
    logits = tf.keras.layers.Dense(2)(net)
    predictions = {"activations": conv, "output": tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        accuracy = tf.compat.v1.metrics.accuracy(labels, tf.argmax(logits, 1))
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    update_ops = tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = tf.compat.v1.train.AdamOptimizer(0.02).minimize(
            loss, global_step=tf.compat.v1.train.get_or_create_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def dataset(repeat=False):
    random = np.random.RandomState(0)
    labels = np.arange(16, dtype=np.int32) % 2
    images = random.uniform(0, 1, [16, 8, 8, 1]).astype(np.float32) * (1 + 4 * labels.reshape(-1, 1, 1, 1))
    images = tf.data.Dataset.from_tensor_slices(({"image": images.astype(np.float32)}, labels)).batch(8)
    return images.repeat() if repeat else images


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
    estimator.train(lambda: dataset(repeat=True), steps=20)
    metrics = estimator.evaluate(dataset)
    means = []
    shapes = set()
    for prediction in estimator.predict(dataset):
        shapes.add(prediction["activations"].shape)
        means.append(float(prediction["activations"].mean()))
    names = estimator.get_variable_names()
    moving = [estimator.get_variable_value(name) for name in names if name.endswith("moving_mean")]
    print(
        json.dumps(
            {
                "metrics": sorted(metrics),
                "accuracy": float(metrics["accuracy"]),
                "global_step": int(metrics["global_step"]),
                "rows": len(means),
                "shapes": sorted(shapes),
                "brighter": bool(np.mean(means[1::2]) > np.mean(means[::2])),
                "moving_mean": [list(np.shape(value)) for value in moving],
                "statistics_moved": bool(np.abs(moving).max() > 0),
                "trained": sorted(name for name in names if name.endswith(("kernel", "bias", "gamma", "beta"))),
            }
        )
    )


if __name__ == "__main__":
    main()
