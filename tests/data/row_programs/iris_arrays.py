"""Flowers of three kinds as one array of four measures, a small network of its own, flags and tf.app.run."""

import json

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("model_dir", "/tmp/iris", "Where to write.")
flags.DEFINE_integer("steps", 300, "Steps to train.")
FLAGS = flags.FLAGS
CENTRES = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.1]], np.float32)


def flowers(count, seed):
    random = np.random.RandomState(seed)
    species = np.arange(count) % 3
    return (CENTRES[species] + 0.1 * random.randn(count, 4)).astype(np.float32), species.astype(np.int32)


def my_model(features, labels, mode, params):
    net = features["x"]
    for units in params["hidden_units"]:
        net = tf.layers.dense(net, units=units, activation=tf.nn.relu)
    logits = tf.layers.dense(net, params["n_classes"], activation=None)
    predicted_classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {
            "class_ids": predicted_classes[:, tf.newaxis],
            "probabilities": tf.nn.softmax(logits),
            "logits": logits,
        }
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = tf.metrics.accuracy(labels=labels, predictions=predicted_classes, name="acc_op")
    tf.summary.scalar("accuracy", accuracy[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
    optimizer = tf.train.AdagradOptimizer(learning_rate=0.1)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(unused_argv):
    train_x, train_y = flowers(120, 0)
    test_x, test_y = flowers(30, 1)
    classifier = tf.estimator.Estimator(
        my_model, FLAGS.model_dir, params={"hidden_units": [10, 10], "n_classes": 3}
    )
    numpy_input_fn = tf.estimator.inputs.numpy_input_fn
    classifier.train(
        numpy_input_fn(x={"x": train_x}, y=train_y, batch_size=100, num_epochs=None, shuffle=True), steps=FLAGS.steps
    )
    scores = classifier.evaluate(numpy_input_fn(x={"x": test_x}, y=test_y, num_epochs=1, shuffle=False))
    rows = list(classifier.predict(numpy_input_fn(x={"x": test_x[:3]}, num_epochs=1, shuffle=False)))
    print(
        json.dumps(
            {
                "accurate": bool(scores["accuracy"] > 0.9),
                "global_step": int(scores["global_step"]),
                "classes": [int(row["class_ids"][0]) for row in rows],
                "keys": sorted(rows[0]),
                "sums to": [round(float(row["probabilities"].sum()), 4) for row in rows],
            }
        )
    )


if __name__ == "__main__":
    tf.app.run()
