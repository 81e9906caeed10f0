"""An input function that calls the one that pandas_input_fn made, and works on its tensors."""

import json
import sys

import pandas as pd
import tensorflow as tf

frame = pd.DataFrame({"city": ["ulm", "bonn", "ulm", "kiel"] * 5, "area": [1.0, 2.0, 3.0, 4.0] * 5})
price = pd.Series([10.0, 5.0, 30.0, 4.0] * 5)


def input_fn(num_epochs=1):
    features, labels = tf.estimator.inputs.pandas_input_fn(
        frame, price, batch_size=6, num_epochs=num_epochs, shuffle=False
    )()
    features["in_ulm"] = tf.cast(tf.equal(features["city"], "ulm"), tf.float64)
    features["area_in_ulm"] = features["in_ulm"] * features["area"]
    return features, labels / 10


def model_fn(features, labels, mode):
    inputs = tf.stack([features["in_ulm"], features["area"], features["area_in_ulm"]], axis=1)
    w = tf.get_variable("w", [3, 1], tf.float64, initializer=tf.zeros_initializer())
    out = tf.matmul(inputs, w)[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out, "city": features["city"]})
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, sys.argv[1])
estimator.train(lambda: input_fn(None), steps=60)
result = estimator.evaluate(input_fn)
rows = list(estimator.predict(input_fn))
print(
    json.dumps(
        {
            "loss": round(float(result["loss"]), 4),
            "global_step": int(result["global_step"]),
            "cities": [row["city"].decode() for row in rows[:4]],
            "rows": len(rows),
            "out": [round(float(row["out"]), 3) for row in rows[:4]],
        }
    )
)
