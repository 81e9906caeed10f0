"""TensorFlow 1 spelling: what is asked for and not written yet, and what the program is told."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    output = tf.layers.dense(features["x"], 1, name="dense")
    loss = tf.losses.mean_squared_error(labels, output)
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"output": output}, loss, train_op)


def input_fn():
    x = np.ones([4, 2], np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1])).batch(2)


def change_a_weight():
    estimator.layers["dense"].kernel = np.zeros([2, 1], np.float32)


estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
estimator.train(input_fn)
wishes = {
    "change_a_weight": change_a_weight,
}
told = {}
for name, wish in wishes.items():
    try:
        wish()
    except Exception as error:
        told[name] = [type(error).__name__, str(error)]
print(json.dumps(told))
