"""TensorFlow 2 spelling: the feature, the label and the hidden layer of every second step, with no line in model_fn."""

import json
import sys

import lightwell as lw
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    hidden = tf.compat.v1.layers.dense(features["my_feature"], 4, tf.nn.relu, name="my_dense_layer")
    predictions = tf.compat.v1.layers.dense(hidden, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"output": predictions})
    loss = tf.compat.v1.losses.mean_squared_error(labels, predictions)
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.05).minimize(
        loss, global_step=tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class OldHook(tf.estimator.SessionRunHook):
    """Asks for a feature as a tensor, and for a layer by its path."""

    def __init__(self):
        self.seen = []

    def before_run(self, run_context):
        feature = run_context.features["my_feature"]
        return tf.estimator.SessionRunArgs({"feature": feature, "hidden": "layers/my_dense_layer"})

    def after_run(self, run_context, run_values):
        self.seen.append({key: list(value.shape) for key, value in run_values.results.items()})


def input_fn():
    x = np.linspace(-1, 1, 8).reshape(8, 1).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"my_feature": x}, 3 * x)).batch(4)


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
    watched = []

    def look(step):
        label_is_three_times = np.allclose(step["labels"], 3 * step["features/my_feature"])
        hidden = step["layers/my_dense_layer"]
        watched.append([step.global_step, bool(label_is_three_times), list(hidden.shape), bool(hidden.min() >= 0)])

    watch = lw.Watch("features/my_feature", "labels", "layers/my_dense_layer", every=2, do=look)
    old = OldHook()
    estimator.train(lambda: input_fn().repeat(), steps=5, hooks=[watch, old])
    estimator.evaluate(input_fn, hooks=[old])
    print(json.dumps({"watched": watched, "old": old.seen}))


if __name__ == "__main__":
    main()
