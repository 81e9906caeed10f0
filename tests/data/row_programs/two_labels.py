"""Two things to learn at once: labels in a dict, a loss for each, the metrics by name."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    x = features["x"]
    w = tf.get_variable("w", [2, 2], initializer=tf.zeros_initializer())
    out = tf.matmul(x, w)
    predictions = {"size": out[:, 0], "price": out[:, 1]}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    losses = {key: tf.losses.mean_squared_error(labels[key], predictions[key]) for key in sorted(labels)}
    loss = tf.add_n(list(losses.values()))
    train_op = tf.train.MomentumOptimizer(0.01, 0.5).minimize(loss, global_step=tf.train.get_global_step())
    metrics = {key: tf.metrics.mean_absolute_error(labels[key], predictions[key]) for key in labels}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


x = np.stack([np.linspace(-1, 1, 37), np.linspace(2, -2, 37) ** 2], axis=1).astype(np.float32)
y = {"size": x[:, 0] * 2 - x[:, 1], "price": x[:, 0] - 3 * x[:, 1]}
estimator = tf.estimator.Estimator(model_fn, sys.argv[1], tf.estimator.RunConfig(tf_random_seed=5))
losses = []


class KeepLoss(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.losses.get_losses())

    def after_run(self, run_context, run_values):
        losses.append(round(float(sum(run_values.results)), 3))


inputs = tf.estimator.inputs
estimator.train(inputs.numpy_input_fn({"x": x}, y, batch_size=10, num_epochs=3, shuffle=False), hooks=[KeepLoss()])
result = estimator.evaluate(inputs.numpy_input_fn({"x": x}, y, batch_size=10, num_epochs=1, shuffle=False))
print(
    json.dumps(
        {
            "losses": losses,
            "result": {key: round(float(value), 3) for key, value in sorted(result.items())},
            "rows": len(list(estimator.predict(inputs.numpy_input_fn({"x": x}, shuffle=False)))),
        }
    )
)
