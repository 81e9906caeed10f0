"""TensorFlow 1 spelling: the values behind a model's layers and weights, as arrays, where TensorFlow gave symbols."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    hidden = tf.layers.dense(features["x"], 5, activation=tf.nn.relu, name="hidden")
    output = tf.layers.dense(hidden, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        probabilities = tf.nn.softmax(tf.concat([output, -output], 1), name="softmax_tensor")
        return tf.estimator.EstimatorSpec(mode, predictions={"output": output, "probabilities": probabilities})
    loss = tf.losses.mean_squared_error(labels, output)
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(0).randn(12, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True))).batch(4)


estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
estimator.train(input_fn)

layer = estimator.layers["hidden"]
x = np.random.RandomState(0).randn(12, 3).astype(np.float32)
by_hand = np.maximum(x @ layer.kernel + layer.bias, 0)
rows = list(estimator.predict(input_fn, taps=["tensors/softmax_tensor:0", "softmax_tensor"]))
tapped = [key for key in rows[0] if key not in ("output", "probabilities")]
print(
    json.dumps(
        {
            "kinds": [type(layer.kernel).__name__, type(estimator.weights["dense/bias"]).__name__],
            "shapes": [list(layer.kernel.shape), list(estimator.weights["dense/kernel"].shape)],
            "weights": sorted(estimator.weights),
            "output": bool(np.allclose(layer.output(input_fn), by_hand, atol=1e-5)),
            "tapped": tapped,
            "softmax": bool(all(np.array_equal(row[key], row["probabilities"]) for row in rows for key in tapped)),
        }
    )
)
