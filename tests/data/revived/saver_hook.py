"""A hook with a Saver of its own that keeps the weights of the best step, and one that restores a part before training."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
model_dir = sys.argv[1]
best_path = os.path.join(model_dir, "best", "best.ckpt")


class BestSaver(tf.train.SessionRunHook):
    def __init__(self, path):
        self.path = path
        self.best = None
        self.saved = []

    def begin(self):
        self.saver = tf.train.Saver(tf.trainable_variables(), max_to_keep=1)
        self.loss = tf.get_default_graph().get_tensor_by_name("the_loss:0")
        self.step = tf.train.get_global_step()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        loss = run_values.results
        step = run_context.session.run(self.step)
        if self.best is None or loss < self.best:
            self.best = float(loss)
            self.saver.save(run_context.session, self.path, global_step=self.step, write_meta_graph=False)
            self.saved.append(int(step))


class RestoreEncoder(tf.train.SessionRunHook):
    def __init__(self, path):
        self.path = path

    def begin(self):
        self.saver = tf.train.Saver(tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="encoder"))

    def after_create_session(self, session, coord):
        self.saver.restore(session, tf.train.latest_checkpoint(self.path))


def model_fn(features, labels, mode):
    with tf.variable_scope("encoder", initializer=tf.glorot_uniform_initializer(seed=4)):
        hidden = tf.layers.dense(features["x"], 4, activation=tf.nn.tanh)
    with tf.variable_scope("decoder", initializer=tf.glorot_uniform_initializer(seed=5)):
        output = tf.layers.dense(hidden, 2)
    loss = tf.identity(tf.losses.mean_squared_error(labels, output), name="the_loss")
    train_op = tf.train.GradientDescentOptimizer(1.2).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(1).randn(10, 2).astype(np.float32)
    return tf.data.Dataset.from_tensors(({"x": x}, x)).repeat()


os.makedirs(os.path.dirname(best_path))
best = BestSaver(best_path)
first = tf.estimator.Estimator(model_fn, os.path.join(model_dir, "first"))
first.train(input_fn, steps=15, hooks=[best])
second = tf.estimator.Estimator(model_fn, os.path.join(model_dir, "second"))
second.train(input_fn, steps=1, hooks=[RestoreEncoder(os.path.dirname(best_path))])
reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(os.path.dirname(best_path)))
kernel = reader.get_tensor("encoder/dense/kernel")
print(json.dumps({
    "best": best.best, "saved": best.saved, "names": sorted(reader.get_variable_to_shape_map()),
    "kernel": kernel.tolist(), "moved": float(np.abs(second.get_variable_value("encoder/dense/kernel") - kernel).max()),
}))
