"""Forecasting with windows: static_rnn over a list, a rolling forecast in Python, pandas input, early stop by a custom hook."""

import json
import sys

import numpy as np
import pandas as pd
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
WINDOW = 5
series = pd.DataFrame({"value": np.sin(np.arange(40) / 3.0), "hour": np.arange(40) % 24})


def windows(frame):
    values = frame["value"].values.astype(np.float32)
    x = np.stack([values[i : i + WINDOW] for i in range(len(values) - WINDOW)])
    return x, values[WINDOW:]


class EarlyStopping(tf.train.SessionRunHook):
    def __init__(self, threshold):
        self.threshold = threshold
        self.stopped_at = None

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"loss": "loss_for_stop:0"})

    def after_run(self, run_context, run_values):
        if run_values.results["loss"] < self.threshold:
            self.stopped_at = int(run_context.session.run(tf.train.get_global_step()))
            run_context.request_stop()


def model_fn(features, labels, mode, params):
    steps = tf.unstack(tf.expand_dims(features["window"], -1), WINDOW, axis=1)
    cell = tf.nn.rnn_cell.BasicLSTMCell(params["units"], forget_bias=1.0)
    with tf.variable_scope("series", initializer=tf.orthogonal_initializer(seed=3)):
        outputs, state = tf.nn.static_rnn(cell, steps, dtype=tf.float32)
        output = tf.layers.dense(outputs[-1], 1, name="out")[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"next": output, "h": state.h})
    loss = tf.losses.absolute_difference(labels, output)
    tf.identity(loss, "loss_for_stop")
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={
        "mse": tf.metrics.mean_squared_error(labels, output), "relative": tf.metrics.mean_relative_error(labels, output, tf.ones_like(labels))})


x, y = windows(series)
train = tf.estimator.inputs.numpy_input_fn({"window": x}, y, batch_size=35, num_epochs=None, shuffle=False)
test = tf.estimator.inputs.numpy_input_fn({"window": x}, y, batch_size=10, num_epochs=1, shuffle=False)
model = tf.estimator.Estimator(model_fn, sys.argv[1], params={"units": 4})
stopping = EarlyStopping(0.25)
model.train(train, steps=60, hooks=[stopping])
metrics = model.evaluate(test)
history = list(x[-1])
for _ in range(2):
    window = np.array([history[-WINDOW:]], np.float32)
    one = tf.estimator.inputs.numpy_input_fn({"window": window}, num_epochs=1, shuffle=False)
    history.append(float(next(model.predict(one))["next"]))
print(json.dumps({"stopped": stopping.stopped_at, "metrics": {k: float(v) for k, v in metrics.items()}, "forecast": history[-2:]}))
