"""Evaluation inside of training, make_early_stopping_hook and a custom hook (TensorFlow 2.2, compat.v1 behaviour off)."""
import functools
import json
import os

import tensorflow as tf

tf.compat.v1.disable_eager_execution()
tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)


def generator(number, sign):
    for i in range(number):
        yield {'t': [i / number, sign * i / number]}, float(i)


def input_fn(number, repeat=None):
    types = ({'t': tf.float32}, tf.float32)
    shapes = ({'t': tf.TensorShape([2])}, tf.TensorShape([]))
    return tf.data.Dataset.from_generator(functools.partial(generator, number, -1), types, shapes).batch(5).repeat(repeat)


def model_fn(features, labels, mode, params):
    dense = tf.compat.v1.layers.Dense(1, kernel_initializer=tf.compat.v1.ones_initializer(), name='line')
    prediction = tf.squeeze(dense(features['t']), axis=-1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=prediction)
    loss = tf.compat.v1.losses.huber_loss(labels, prediction, delta=2.0)
    step = tf.compat.v1.train.get_or_create_global_step()
    rate = tf.compat.v1.train.piecewise_constant(step, [10, 20], [0.5, 0.2, 0.1])
    optimizer = tf.compat.v1.train.ProximalAdagradOptimizer(rate, l2_regularization_strength=0.001)
    mean = tf.keras.metrics.MeanAbsoluteError()
    mean.update_state(labels, prediction)
    return tf.estimator.EstimatorSpec(
        mode, predictions=prediction, loss=loss, train_op=optimizer.minimize(loss, step) if mode == 'train' else None,
        eval_metric_ops={'mae': mean} if mode == tf.estimator.ModeKeys.EVAL else None)


class Steps(tf.estimator.SessionRunHook):
    def __init__(self):
        self.losses = []

    def before_run(self, run_context):
        return tf.estimator.SessionRunArgs(fetches={'loss': tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.LOSSES)[0]})

    def after_run(self, run_context, run_values):
        self.losses.append(round(float(run_values.results['loss']), 4))


estimator = tf.estimator.Estimator(model_fn, os.path.join('.', 'line'), params=None)
evaluator = tf.estimator.experimental.InMemoryEvaluatorHook(estimator, functools.partial(input_fn, 10, 1), steps=2, every_n_iter=10)
steps, threshold = Steps(), {'at': 40}
stopper = tf.estimator.experimental.make_early_stopping_hook(estimator, lambda: len(steps.losses) >= threshold['at'], run_every_secs=None, run_every_steps=1)
estimator.train(functools.partial(input_fn, 20), max_steps=100, hooks=[evaluator, steps, stopper])
result = estimator.evaluate(functools.partial(input_fn, 20, 1))
loss = [s for s in ('eval', 'eval_eval') if os.path.isdir(os.path.join('line', s))]
print(json.dumps({'losses': steps.losses[::10], 'count': len(steps.losses), 'result': {k: float(v) for k, v in result.items()}, 'folders': loss,
                  'rows': [float(r) for r, _ in zip(estimator.predict(functools.partial(input_fn, 5, 1)), range(4))]}))
