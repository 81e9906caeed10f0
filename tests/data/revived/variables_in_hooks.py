"""Hooks that fetch the global step and weights beside the step, and act on every third step: which values they see."""

import json
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


class EveryThird(tf.train.SessionRunHook):
    def __init__(self):
        self.steps, self.weights, self.acted = [], [], []

    def begin(self):
        self.weight = tf.trainable_variables()[0]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"step": tf.train.get_global_step(), "more": [self.weight, "loss_of_step:0"]})

    def after_run(self, run_context, run_values):
        step = run_values.results["step"]
        weight, loss = run_values.results["more"]
        self.steps.append(int(step))
        self.weights.append(float(weight[0, 0]))
        if step % 3 == 0:
            self.acted.append([int(step), float(loss)])


class StepOnly(tf.train.SessionRunHook):
    def __init__(self):
        self.steps = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.train.get_global_step())

    def after_run(self, run_context, run_values):
        self.steps.append(int(run_values.results))


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels), name="loss_of_step")
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


x = np.ones([8, 3], np.float32)
third, only = EveryThird(), StepOnly()
estimator = tf.estimator.Estimator(model_fn, sys.argv[1])
estimator.train(lambda: tf.data.Dataset.from_tensors((x, x[:, :1])).repeat(), steps=30, hooks=[third, only])
print(json.dumps({"steps": third.steps, "weights": third.weights[::7], "acted": third.acted, "only": only.steps}))
