"""The functions where they first were: tf.contrib.learn.io, which shuffled by default."""

import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib import learn
from tensorflow.contrib.learn.python.learn.learn_io.pandas_io import pandas_input_fn


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    out = w * tf.cast(features["x"], tf.float32)
    if mode == learn.ModeKeys.INFER:
        return tf.estimator.EstimatorSpec(mode, predictions={"x": features["x"], "out": out})
    loss = tf.reduce_mean(tf.square(out - tf.cast(labels, tf.float32)))
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(argv):
    import pandas as pd

    x = np.linspace(-1, 1, 40)
    estimator = tf.estimator.Estimator(model_fn, argv[1], params={"rate": 0.3})
    estimator.train(tf.contrib.learn.io.numpy_input_fn({"x": x}, 2 * x, batch_size=8, num_epochs=20))
    frame = pd.DataFrame({"x": x})
    result = estimator.evaluate(pandas_input_fn(frame, pd.Series(2 * x), shuffle=False))
    rows = list(estimator.predict(learn.io.pandas_input_fn(frame)))
    print(
        json.dumps(
            {
                "global_step": int(result["global_step"]),
                "small": bool(result["loss"] < 1e-3),
                "all rows": bool(np.allclose(sorted(row["x"] for row in rows), x)),
                "in order": bool(np.allclose([row["x"] for row in rows], x)),
            }
        )
    )


if __name__ == "__main__":
    tf.app.run()
