"""A line through four points, in the way of the first page of the old guide."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode):
    W = tf.get_variable("W", [1], dtype=tf.float64, initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], dtype=tf.float64, initializer=tf.zeros_initializer())
    y = W * features["x"] + b
    loss = tf.reduce_sum(tf.square(y - labels))
    global_step = tf.train.get_global_step()
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    train = tf.group(optimizer.minimize(loss), tf.assign_add(global_step, 1))
    return tf.estimator.EstimatorSpec(mode=mode, predictions=y, loss=loss, train_op=train)


estimator = tf.estimator.Estimator(model_fn=model_fn, model_dir=sys.argv[1])
x_train = np.array([1.0, 2.0, 3.0, 4.0])
y_train = np.array([0.0, -1.0, -2.0, -3.0])
x_eval = np.array([2.0, 5.0, 8.0, 1.0])
y_eval = np.array([-1.01, -4.1, -7.0, 0.0])
input_fn = tf.estimator.inputs.numpy_input_fn({"x": x_train}, y_train, batch_size=4, num_epochs=None, shuffle=True)
train_input_fn = tf.estimator.inputs.numpy_input_fn({"x": x_train}, y_train, batch_size=4, num_epochs=10, shuffle=False)
eval_input_fn = tf.estimator.inputs.numpy_input_fn({"x": x_eval}, y_eval, batch_size=4, num_epochs=10, shuffle=False)
estimator.train(input_fn=input_fn, steps=1000)
train_metrics = estimator.evaluate(input_fn=train_input_fn)
eval_metrics = estimator.evaluate(input_fn=eval_input_fn)
print(
    json.dumps(
        {
            "train is small": bool(train_metrics["loss"] < 1e-4),
            "eval": round(float(eval_metrics["loss"]), 3),
            "global_step": int(eval_metrics["global_step"]),
            "W": round(float(estimator.get_variable_value("W")[0]), 3),
            "b": round(float(estimator.get_variable_value("b")[0]), 3),
        }
    )
)
