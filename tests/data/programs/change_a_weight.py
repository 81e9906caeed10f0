"""TensorFlow 1 spelling: a weight is changed from outside of model_fn, and the model goes on from it."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    output = tf.layers.dense(features["x"], 1, name="dense")
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"output": output})
    loss = tf.losses.mean_squared_error(labels, output)
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {"output": output}, loss, train_op)


def input_fn():
    x = np.ones([4, 2], np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, :1])).batch(2)


estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
estimator.train(input_fn)
estimator.layers["dense"].kernel = np.full([2, 1], 0.5, np.float32)
estimator.layers["dense"].bias = [0.25]
rows = [float(row["output"][0]) for row in estimator.predict(input_fn)]
print(json.dumps({"kernel": estimator.layers["dense"].kernel.tolist(), "rows": rows}))
