"""A training loop by hand beside the Estimator: MonitoredTrainingSession, then the checkpoint in an Estimator (TensorFlow 1.12)."""
from __future__ import absolute_import, division, print_function
import json
import os
import tensorflow as tf
import numpy as np

CHECKPOINTS = os.path.join('hand', 'ckpt')
X = np.linspace(-1, 1, 16, dtype=np.float32)[:, None]


def network(x):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        h = tf.layers.dense(x, 4, tf.nn.softplus, kernel_initializer=tf.initializers.random_uniform(-.5, .5, seed=1), name='h')
        return tf.layers.dense(h, 1, kernel_initializer=tf.initializers.random_uniform(-.5, .5, seed=2), name='o')


def data(repeat=None):
    return tf.data.Dataset.from_tensor_slices((X, X * X)).batch(4).repeat(repeat)


class Printer(tf.train.SessionRunHook):
    seen = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs('loss:0')

    def after_run(self, run_context, run_values):
        self.seen.append(float(run_values.results))


with tf.Graph().as_default():
    x, y = data().make_one_shot_iterator().get_next()
    loss = tf.reduce_mean(tf.square(network(x) - y), name='loss')
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(.05).minimize(loss, global_step=step)
    hooks = [tf.train.StopAtStepHook(last_step=12), tf.train.NanTensorHook(loss), Printer(),
             tf.train.LoggingTensorHook({'loss': loss, 'step': step}, every_n_iter=5), tf.train.CheckpointSaverHook(CHECKPOINTS, save_steps=5)]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=CHECKPOINTS, hooks=hooks, save_checkpoint_secs=None, save_summaries_steps=None, log_step_count_steps=None) as session:
        while not session.should_stop():
            session.run(train_op)


def model_fn(features, labels, mode):
    y = network(features)
    loss = tf.reduce_mean(tf.square(y - labels), name='loss') if labels is not None else None
    op = tf.train.AdamOptimizer(.05).minimize(loss, tf.train.get_global_step()) if mode == tf.estimator.ModeKeys.TRAIN else None
    return tf.estimator.EstimatorSpec(mode, predictions=y, loss=loss, train_op=op)


est = tf.estimator.Estimator(model_fn, CHECKPOINTS)
before = est.evaluate(lambda: data(1))
printer = Printer()
est.train(data, steps=5, hooks=[printer])
after = est.evaluate(lambda: data(1))
with tf.Graph().as_default():
    out = network(tf.constant([[.5]]))
    saver = tf.train.Saver(tf.global_variables('net') if False else tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, 'net'))
    with tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1)) as sess:
        saver.restore(sess, tf.train.latest_checkpoint(CHECKPOINTS))
        answer = float(sess.run(out))
print(json.dumps({'seen': Printer.seen, 'before': {k: float(v) for k, v in before.items()}, 'after': {k: float(v) for k, v in after.items()}, 'answer': answer}))
