"""WGAN with gradient penalty: tf.gradients inside the loss, critic steps by tf.cond on the global step, compat.v1 in TF 2."""
import json
import sys

import numpy as np
import tensorflow.compat.v1 as tf

if hasattr(tf, 'disable_eager_execution'):
    tf.disable_eager_execution()
N_CRITIC, LAMBDA = 2, 10.0


def dense(x, n, name, activation=None):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        w = tf.get_variable('w', [x.shape.as_list()[-1], n], initializer=tf.truncated_normal_initializer(stddev=.3, seed=n))
        b = tf.get_variable('b', [n], initializer=tf.initializers.zeros())
        y = tf.nn.bias_add(tf.linalg.matmul(x, w), b)
        return y if activation is None else activation(y)


def critic(x):
    return dense(dense(x, 8, 'critic/h1', tf.nn.leaky_relu), 1, 'critic/out')


def generator(z):
    return dense(dense(z, 8, 'generator/h1', tf.nn.elu), 2, 'generator/out')


def gradient_penalty(real, fake):
    alpha = tf.reshape(tf.linspace(0.1, 0.9, 8), [8, 1])
    inter = real + alpha * (fake - real)
    grads = tf.gradients(ys=critic(inter), xs=[inter])[0]
    slopes = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1]) + 1e-10)
    return tf.reduce_mean((slopes - 1.) ** 2)


def model_fn(features, labels, mode, params, config):
    assert config.model_dir
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'x': generator(features['z'])})
    fake, real = generator(features['z']), features['x']
    d_real, d_fake = critic(real), critic(fake)
    penalty = gradient_penalty(real, fake)
    d_loss = tf.reduce_mean(d_fake) - tf.reduce_mean(d_real) + LAMBDA * penalty
    g_loss = -tf.reduce_mean(d_fake)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=d_loss, eval_metric_ops={'penalty': tf.metrics.mean(penalty), 'g': tf.metrics.mean(g_loss), 'rmse': tf.metrics.root_mean_squared_error(real, fake)})
    step = tf.train.get_or_create_global_step()
    c_vars = tf.trainable_variables(scope='critic')
    g_vars = tf.trainable_variables(scope='generator')
    d_opt, g_opt = tf.train.AdamOptimizer(1e-2, 0., .9), tf.train.RMSPropOptimizer(1e-2)
    d_gv, g_gv = d_opt.compute_gradients(d_loss, c_vars), g_opt.compute_gradients(g_loss, g_vars)

    def train_g():
        return tf.group(g_opt.apply_gradients(g_gv))

    def train_c():
        return tf.group(d_opt.apply_gradients(d_gv))
    op = tf.cond(tf.equal(tf.mod(step, N_CRITIC + 1), N_CRITIC), train_g, train_c)
    with tf.control_dependencies([op]):
        train_op = tf.assign_add(step, 1).op
    return tf.estimator.EstimatorSpec(mode, loss=d_loss, train_op=train_op, training_hooks=[tf.train.NanTensorHook(d_loss, fail_on_nan_loss=True), tf.train.StopAtStepHook(last_step=15)])


def input_fn():
    rng = np.random.RandomState(2)
    x = rng.randn(64, 2).astype('f4') * [1, .1] + [1, 2]
    return tf.data.Dataset.from_tensor_slices({'x': x.astype('f4'), 'z': rng.randn(64, 3).astype('f4')}).repeat().batch(8, drop_remainder=True)


class Progress(tf.train.SessionRunHook):
    def begin(self):
        self.steps = []
        self.step = tf.train.get_global_step()

    def before_run(self, context):
        return tf.train.SessionRunArgs({'s': self.step})

    def after_run(self, context, values):
        self.steps.append(int(values.results['s']))
        if self.steps[-1] >= 100:
            context.request_stop()


if __name__ == '__main__':
    progress = Progress()
    est = tf.estimator.Estimator(model_fn, sys.argv[1], params={})
    est.train(input_fn, hooks=[progress])
    ev = est.evaluate(input_fn, steps=8)
    x = [p['x'].tolist() for _, p in zip(range(2), est.predict(input_fn))]
    print(json.dumps({'ev': {k: float(v) for k, v in ev.items()}, 'x': x, 'n': len(progress.steps)}))
