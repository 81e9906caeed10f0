"""TensorFlow 2 spelling: the outputs of Dense and LSTM layers, through a helper that names them."""

import json
import sys

import numpy as np
import tensorflow as tf


def extract_layer_output(layer, inputs, name):
    """Calls a layer and gives its output a name."""
    return tf.identity(layer(inputs), name=name)


def model_fn(features, labels, mode):
    lstm = tf.keras.layers.LSTM(128, return_sequences=True)
    sequence = extract_layer_output(lstm, features["steps"], "lstm_output")
    hidden = extract_layer_output(tf.keras.layers.Dense(16, activation="relu"), sequence[:, -1], "dense_output")
    output = tf.keras.layers.Dense(1)(hidden)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"lstm": sequence, "dense": hidden, "output": output}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.compat.v1.losses.mean_squared_error(labels, output)
    train_op = tf.compat.v1.train.AdamOptimizer(0.02).minimize(
        loss, global_step=tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def dataset(repeat=False):
    steps = np.random.RandomState(0).randn(16, 5, 2).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({"steps": steps}, steps.sum(axis=(1, 2))[:, None])).batch(8)
    return data.repeat() if repeat else data


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
    estimator.train(lambda: dataset(repeat=True), steps=1)
    first = estimator.evaluate(dataset)["loss"]
    estimator.train(lambda: dataset(repeat=True), steps=20)
    last = estimator.evaluate(dataset)["loss"]
    rows = list(estimator.predict(dataset))
    print(
        json.dumps(
            {
                "shapes": {key: list(value.shape) for key, value in rows[0].items()},
                "rows": len(rows),
                "learned": bool(last < 0.5 * first),
                "finite": bool(all(np.isfinite(value).all() for row in rows for value in row.values())),
            }
        )
    )


if __name__ == "__main__":
    main()
