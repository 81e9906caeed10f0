"""TensorFlow 2 spelling: a hook reads a feature and a prediction through graph collections, in every mode."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    tf.compat.v1.add_to_collection("my_features", features["my_feature"])
    predictions = tf.compat.v1.layers.dense(features["my_feature"], 1, name="my_predictions")
    tf.compat.v1.add_to_collection("my_predictions", predictions)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"output": predictions})
    loss = tf.compat.v1.losses.mean_squared_error(labels, predictions)
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.05).minimize(
        loss, global_step=tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class ReadCollection(tf.compat.v1.train.SessionRunHook):
    def __init__(self, name):
        self.name = name
        self.shapes = []

    def before_run(self, run_context):
        wanted = tf.compat.v1.get_collection(self.name)[0]
        return tf.compat.v1.train.SessionRunArgs(fetches=wanted)

    def after_run(self, run_context, run_values):
        self.shapes.append(list(run_values.results.shape))


def input_fn():
    x = np.linspace(-1, 1, 8).reshape(8, 1).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"my_feature": x}, 3 * x)).batch(4)


def main():
    estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1])
    feature, prediction = ReadCollection("my_features"), ReadCollection("my_predictions")
    estimator.train(lambda: input_fn().repeat(), steps=3, hooks=[feature, prediction])
    metrics = estimator.evaluate(input_fn, hooks=[feature])
    rows = list(estimator.predict(input_fn, hooks=[prediction]))
    print(
        json.dumps(
            {
                "eager": tf.executing_eagerly(),
                "feature_shapes": feature.shapes,
                "prediction_shapes": prediction.shapes,
                "global_step": int(metrics["global_step"]),
                "rows": len(rows),
            }
        )
    )


if __name__ == "__main__":
    main()
