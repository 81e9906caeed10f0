"""learn_runner, Experiment, HParams and the RunConfig of contrib.learn around an Estimator."""

import argparse
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib.learn.python.learn import learn_runner
from tensorflow.contrib.training.python.training import hparam

tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], params.hidden, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    output = tf.layers.dense(net, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=2))[:, 0]
    loss = None
    if mode != tf.contrib.learn.ModeKeys.INFER:
        loss = tf.losses.mean_squared_error(labels, output)
    train_op = None
    if mode == tf.contrib.learn.ModeKeys.TRAIN:
        train_op = tf.contrib.layers.optimize_loss(
            loss, tf.contrib.framework.get_or_create_global_step(), learning_rate=params.rate, optimizer="Adam")
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)} if loss is not None else None
    return tf.estimator.EstimatorSpec(mode, {"y": output}, loss, train_op, metrics)


def data(epochs):
    x = np.random.RandomState(0).randn(24, 3).astype(np.float32)
    return tf.estimator.inputs.numpy_input_fn({"x": x}, x.sum(1), batch_size=8, num_epochs=epochs, shuffle=False)


def experiment_fn(run_config, hparams):
    estimator = tf.estimator.Estimator(model_fn, config=run_config, params=hparams)
    return tf.contrib.learn.Experiment(
        estimator=estimator, train_input_fn=data(None), eval_input_fn=data(1), train_steps=hparams.steps, eval_steps=3,
        eval_delay_secs=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir")
    parser.add_argument("--hparams", default="")
    args = parser.parse_args()
    params = hparam.HParams(hidden=4, rate=0.1, steps=12, layers=[1, 2])
    params.parse(args.hparams)
    config = tf.contrib.learn.RunConfig(save_checkpoints_steps=100, tf_random_seed=2).replace(model_dir=args.job_dir)
    learn_runner.run(experiment_fn, run_config=config, schedule="train_and_evaluate", hparams=params)
    estimator = tf.estimator.Estimator(model_fn, args.job_dir, params=params)
    found = estimator.evaluate(data(1))
    print(json.dumps({"found": {k: float(v) for k, v in found.items()}, "hparams": params.values()}, sort_keys=True))
