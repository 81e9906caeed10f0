"""Session run hooks of many kinds and early stopping on a small regression (TensorFlow 1.13)."""
from __future__ import absolute_import, division, print_function

import json
import time

import numpy as np
import tensorflow as tf
from tensorflow.python.training import session_run_hook
from tensorflow.python.training import basic_session_run_hooks

X = np.linspace(-1, 1, 40).astype(np.float32).reshape(-1, 1)
Y = 3 * X + 0.5


def input_fn(epochs=None):
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).batch(8).repeat(epochs)


def model_fn(features, labels, mode):
    w = tf.get_variable('w', [1, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable('b', [1], initializer=tf.zeros_initializer())
    y = tf.matmul(features['x'], w) + b
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'y': y})
    loss = tf.reduce_mean(tf.square(y - labels), name='my_loss')
    rate = tf.train.exponential_decay(0.2, tf.train.get_or_create_global_step(), 10, 0.9, staircase=True, name='rate')
    tf.summary.scalar('rate', rate)
    train_op = tf.train.MomentumOptimizer(rate, 0.5).minimize(loss, global_step=tf.train.get_global_step())
    hooks = [tf.train.StepCounterHook(every_n_steps=10), tf.train.NanTensorHook(loss)]
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=hooks,
        eval_metric_ops={'mae': tf.metrics.mean_absolute_error(labels, y)})


class TimeHook(session_run_hook.SessionRunHook):
    def begin(self):
        self.times, self.rates = [], []

    def before_run(self, run_context):
        self.started = time.time()
        return session_run_hook.SessionRunArgs(['rate:0', tf.train.get_global_step()])

    def after_run(self, run_context, run_values):
        self.times.append(time.time() - self.started)
        self.rates.append((float(run_values.results[0]), int(run_values.results[1])))


class StopBelow(tf.train.SessionRunHook):
    def __init__(self, name, limit):
        self._name, self._limit, self.stopped_at = name, limit, None

    def begin(self):
        self._timer = basic_session_run_hooks.SecondOrStepTimer(every_steps=5)
        self._count = 0

    def before_run(self, context):
        return tf.train.SessionRunArgs(context.session.graph.get_tensor_by_name(self._name))

    def after_run(self, context, values):
        self._count += 1
        if self._timer.should_trigger_for_step(self._count):
            self._timer.update_last_triggered_step(self._count)
            if values.results < self._limit:
                self.stopped_at = self._count
                context.request_stop()


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self):
        self.calls = []

    def begin(self):
        self.calls.append('begin')

    def before_save(self, session, global_step_value):
        self.calls.append('before %d' % global_step_value)

    def after_save(self, session, global_step_value):
        self.calls.append('after %d' % global_step_value)

    def end(self, session, global_step_value):
        self.calls.append('end %d' % global_step_value)


def main():
    config = tf.estimator.RunConfig(model_dir='hooks_model', save_checkpoints_steps=15, save_summary_steps=5, keep_checkpoint_max=2)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    timing, stop, listener = TimeHook(), StopBelow('my_loss:0', 0.01), Listener()
    estimator.train(input_fn, max_steps=200, hooks=[timing, stop], saving_listeners=[listener])
    other = tf.estimator.Estimator(model_fn, 'patience_model', tf.estimator.RunConfig(save_checkpoints_steps=10))
    patience = tf.estimator.experimental.stop_if_no_decrease_hook(other, 'loss', max_steps_without_decrease=10, run_every_secs=None, run_every_steps=10)
    other.train(input_fn, steps=80, hooks=[patience, tf.train.ProfilerHook(save_steps=1000, output_dir='profile')])
    estimator.train(input_fn, hooks=[tf.train.StopAtStepHook(num_steps=7), tf.train.FinalOpsHook(final_ops=tf.constant(1.0))][:1])
    result = estimator.evaluate(lambda: input_fn(1))
    print(json.dumps({
        'rates': timing.rates[::8], 'timed': len(timing.times), 'stopped': stop.stopped_at, 'patience': int(other.get_variable_value('global_step')), 'calls': listener.calls,
        'result': {k: float(v) for k, v in result.items()}, 'kept': tf.train.get_checkpoint_state('hooks_model').all_model_checkpoint_paths[:]}))


if __name__ == '__main__':
    main()
