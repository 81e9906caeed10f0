"""Prices of houses from frames; predictions of the first few with itertools.islice."""

import itertools
import json
import sys

import numpy as np
import pandas as pd
import tensorflow as tf

COLUMNS = ["crim", "zn", "indus", "nox", "rm", "medv"]
FEATURES = COLUMNS[:-1]
LABEL = "medv"


def houses(rows, seed):
    random = np.random.RandomState(seed)
    frame = pd.DataFrame(random.rand(rows, 5), columns=FEATURES)
    frame[LABEL] = frame.sum(axis=1) * 3
    return frame


def get_input_fn(data_set, num_epochs=None, shuffle=True):
    return tf.estimator.inputs.pandas_input_fn(
        x=pd.DataFrame({k: data_set[k].values for k in FEATURES}),
        y=pd.Series(data_set[LABEL].values),
        num_epochs=num_epochs,
        shuffle=shuffle,
    )


def model_fn(features, labels, mode):
    with tf.variable_scope("linear", initializer=tf.zeros_initializer()):
        inputs = tf.stack([features[k] for k in FEATURES], axis=1)
        weights = tf.get_variable("weights", [len(FEATURES), 1], tf.float64)
        bias = tf.get_variable("bias", [1], tf.float64)
    predictions = tf.squeeze(tf.matmul(inputs, weights) + bias, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"predictions": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss, tf.train.get_global_step())
    metrics = {"rmse": tf.metrics.root_mean_squared_error(labels, predictions)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


training_set, test_set = houses(300, 0), houses(50, 1)
regressor = tf.estimator.Estimator(model_fn=model_fn, model_dir=sys.argv[1])
regressor.train(input_fn=get_input_fn(training_set, shuffle=False), steps=400)
ev = regressor.evaluate(input_fn=get_input_fn(test_set, num_epochs=1, shuffle=False))
y = regressor.predict(input_fn=get_input_fn(test_set, num_epochs=1, shuffle=False))
predictions = [round(float(p["predictions"]), 2) for p in itertools.islice(y, 6)]
print(
    json.dumps(
        {
            "loss": round(float(ev["loss"]), 3),
            "rmse": round(float(ev["rmse"]), 2),
            "global_step": int(ev["global_step"]),
            "predictions": predictions,
            "weights": [round(float(w), 2) for w in regressor.get_variable_value("linear/weights").ravel()],
        }
    )
)
