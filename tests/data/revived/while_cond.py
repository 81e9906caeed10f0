"""Loops and branches in a model_fn: tf.while_loop with gradients through it, tf.cond on a tensor, tf.scan, tf.map_fn, tf.case."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode, params):
    x = features["x"]
    w = tf.get_variable("w", [3, 3], initializer=tf.constant_initializer(0.2))
    bias = tf.get_variable("bias", [3], initializer=tf.zeros_initializer())
    steps = tf.get_variable("steps", [], tf.int32, initializer=tf.zeros_initializer(), trainable=False)

    def body(i, state):
        return i + 1, tf.tanh(tf.matmul(state, w) + bias)

    _, state = tf.while_loop(lambda i, _: tf.less(i, params["depth"]), body, [tf.constant(0), x])

    array = tf.TensorArray(tf.float32, size=3)
    _, array = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a.write(i, state[:, i] * tf.to_float(i + 1))), [0, array])
    columns = tf.transpose(array.stack())

    is_big = tf.greater(tf.reduce_mean(x), 0.0)
    scaled = tf.cond(is_big, lambda: columns * 2.0, lambda: columns - 1.0)
    total = tf.scan(lambda previous, row: previous * 0.5 + row, scaled)
    squared = tf.map_fn(lambda row: tf.reduce_sum(row ** 2), scaled)
    output = tf.reduce_sum(total, 1) + squared
    with tf.control_dependencies([tf.Assert(tf.reduce_all(tf.is_finite(output)), [output])]):
        output = tf.identity(output)
    kind = tf.case([(tf.less(output[0], 0.0), lambda: tf.constant(-1)), (tf.greater(output[0], 5.0), lambda: tf.constant(1))],
                   default=lambda: tf.constant(0))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"output": output, "kind": tf.fill(tf.shape(output), kind)})
    loss = tf.losses.mean_squared_error(labels, output)
    with tf.control_dependencies([tf.assign_add(steps, 1)]):
        count = tf.identity(steps)
    rate = tf.cond(count > 2, lambda: 0.001, lambda: 0.005)
    train_op = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"mean": tf.metrics.mean(output)})


def input_fn():
    x = np.random.RandomState(5).randn(8, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1))).batch(4)


class Losses(tf.train.SessionRunHook):
    def __init__(self):
        self.values = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[0])

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))


losses = Losses()
estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params={"depth": 4})
estimator.train(lambda: input_fn().repeat(), steps=5, hooks=[losses])
metrics = estimator.evaluate(input_fn)
rows = list(estimator.predict(input_fn))
print(json.dumps({
    "losses": losses.values, "steps": int(estimator.get_variable_value("steps")),
    "metrics": {k: float(v) for k, v in metrics.items()},
    "output": [float(row["output"]) for row in rows], "kinds": [int(row["kind"]) for row in rows],
}))
