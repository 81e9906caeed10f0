"""TensorFlow 2 spelling: activations of any layer over a tf.data pipeline, with no word about them in model_fn."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.keras.layers.Conv2D(8, (3, 3), activation="relu")(features["image"])
    net = tf.keras.layers.Reshape((6, 6 * 8))(net)
    net = tf.keras.layers.LSTM(12, return_sequences=True)(net)
    output = tf.keras.layers.Dense(1)(net[:, -1])
    if mode == tf.estimator.ModeKeys.PREDICT:
        # Whoever computes this is stopped: nothing past the last tap is run when only taps are asked for.
        checked = tf.debugging.assert_less(tf.reduce_max(output), -1e9)
        with tf.control_dependencies([checked]):
            return tf.estimator.EstimatorSpec(mode, predictions={"output": tf.identity(output)})
    loss = tf.compat.v1.losses.mean_squared_error(labels, output)
    train_op = tf.compat.v1.train.AdamOptimizer(0.01).minimize(
        loss, global_step=tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def dataset():
    images = np.random.RandomState(0).uniform(0, 1, [10, 8, 8, 1]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"image": images}, images.sum(axis=(1, 2)))).batch(4)


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
    estimator.train(dataset)
    taps = ["layers/conv2d", "layers/lstm"]
    share_of_zeros, shapes = [], []
    for row in estimator.predict(dataset, predict_keys=[], taps=taps):
        share_of_zeros.append(float((row["layers/conv2d"] == 0).mean()))
        shapes.append([list(row[tap].shape) for tap in taps])
    try:
        list(estimator.predict(dataset, taps=taps))
    except Exception as error:
        stopped = "assertion failed" in str(error)
    else:
        stopped = False
    print(
        json.dumps(
            {
                "keys": sorted(row),
                "shapes": shapes[0],
                "rows": len(shapes),
                "some_zeros": 0 < np.mean(share_of_zeros) < 1,
                "predictions_stop": stopped,
            },
            default=bool,
        )
    )


if __name__ == "__main__":
    main()
