"""TensorFlow 2 spelling: what a hook may get wrong, one mistake after the other, and what it is told."""

import json
import sys

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    tf.compat.v1.add_to_collection("my_features", features["my_feature"])
    logits = tf.compat.v1.layers.dense(features["my_feature"], 2, name="my_predictions")
    tf.nn.softmax(logits, name="softmax_tensor")
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.compat.v1.train.GradientDescentOptimizer(0.05).minimize(
        loss, global_step=tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class EmptyCollection(tf.estimator.SessionRunHook):
    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(tf.compat.v1.get_collection("my_feature")[0])


class NoSuchName(tf.estimator.SessionRunHook):
    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs("softmax_tenser:0")


class NoSuchTensor(tf.estimator.SessionRunHook):
    def begin(self):
        self.tensor = tf.compat.v1.get_default_graph().get_tensor_by_name("softmax_tenser:0")


class AddsOps(tf.estimator.SessionRunHook):
    def before_run(self, run_context):
        feature = tf.compat.v1.get_collection("my_features")[0]
        return tf.estimator.SessionRunArgs(tf.reduce_mean(feature))


def input_fn():
    x = np.linspace(-1, 1, 8).reshape(8, 1).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"my_feature": x}, (x[:, 0] > 0).astype(np.int32))).batch(4)


def main():
    hooks = {
        "empty_collection": EmptyCollection(),
        "no_such_name": NoSuchName(),
        "no_such_tensor": NoSuchTensor(),
        "logging": tf.estimator.LoggingTensorHook(["softmax_tenser"], every_n_iter=1),
        "adds_ops": AddsOps(),
    }
    told = {}
    for name, hook in hooks.items():
        estimator = tf.estimator.Estimator(model_fn, f"{sys.argv[1]}/{name}")
        try:
            estimator.train(input_fn, hooks=[hook])
        except Exception as error:
            told[name] = [type(error).__name__, str(error)]
    print(json.dumps(told))


if __name__ == "__main__":
    main()
