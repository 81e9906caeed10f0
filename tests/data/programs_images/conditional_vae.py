"""Conditional VAE with tf.distributions, KL warm-up, summaries by a custom SummarySaverHook, export of the decoder."""
import json
import os
import sys
import functools
import numpy as np
import tensorflow as tf
tfd = tf.distributions
from tensorflow.python.training import moving_averages
from tensorflow.python.ops.distributions import distribution as distribution_lib
from tensorflow.python.ops.distributions.kullback_leibler import kl_divergence


class Encoder(object):
    def __init__(self, size):
        init = tf.variance_scaling_initializer(distribution='uniform', seed=6)
        self.hidden = tf.layers.Dense(8, tf.nn.softplus, kernel_initializer=init, name='enc_hidden')
        self.loc = tf.layers.Dense(size, kernel_initializer=init, name='enc_loc')
        self.scale = tf.layers.Dense(size, tf.nn.softplus, kernel_initializer=init, name='enc_scale', bias_initializer=tf.constant_initializer(.5413))

    def __call__(self, x, y):
        h = self.hidden(tf.concat([x, y], 1))
        return tfd.Normal(self.loc(h), self.scale(h) + 1e-3, name='posterior')


def decoder(z, y, reuse=None):
    with tf.variable_scope('decoder', reuse=reuse):
        init = tf.variance_scaling_initializer(distribution='uniform', seed=9)
        h = tf.layers.dense(tf.concat([z, y], 1), 8, tf.nn.selu, kernel_initializer=init)
        return tfd.Bernoulli(logits=tf.layers.dense(h, 12, kernel_initializer=init))


def model_fn(features, labels, mode, params):
    y = tf.one_hot(features['y'], 3, on_value=1., off_value=0.)
    if mode == tf.estimator.ModeKeys.PREDICT:
        probs = decoder(features['z'], y).probs
        return tf.estimator.EstimatorSpec(mode, {'probs': probs}, export_outputs={'decode': tf.estimator.export.PredictOutput(probs), 'serving_default': tf.estimator.export.RegressionOutput(tf.reduce_mean(probs, 1))})
    posterior = Encoder(2)(features['x'], y)
    assert isinstance(posterior, distribution_lib.Distribution)
    prior = tfd.Normal(tf.zeros([2]), tf.ones([2]))
    noise = tf.random_normal(tf.shape(posterior.loc), seed=5) * 0. + tf.constant([[.3, -.2]])
    z = posterior.loc + posterior.scale * noise
    p = decoder(z, y)
    nll = -tf.reduce_sum(p.log_prob(features['x']), -1)
    kl = tf.reduce_sum(kl_divergence(posterior, prior), -1)
    step = tf.to_float(tf.train.get_global_step())
    beta = tf.clip_by_value(step / 10., 0., 1.) if mode == 'train' else 1.
    loss = tf.reduce_mean(nll + beta * kl)
    average = tf.get_variable('loss_average', [], initializer=tf.zeros_initializer(), trainable=False)
    metrics = {'elbo': tf.metrics.mean(-nll - kl), 'kl': tf.metrics.mean(kl), 'entropy': tf.metrics.mean(posterior.entropy()), 'mode': tf.metrics.mean(tf.to_float(p.mode()))}
    if mode == 'eval':
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(.02).minimize(loss, tf.train.get_global_step())
    with tf.control_dependencies([train_op]):
        update = moving_averages.assign_moving_average(average, loss, .9, zero_debias=False)
        train_op = tf.group(update)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(epochs=1):
    rng = np.random.RandomState(0)
    y = np.arange(30) % 3
    x = (rng.rand(30, 12) < np.repeat(np.eye(3), 4, 1)[y] * .7 + .15).astype('float32')
    return tf.estimator.inputs.numpy_input_fn({'x': x, 'y': y}, batch_size=10, num_epochs=epochs, shuffle=False)()


if __name__ == '__main__':
    est = tf.estimator.Estimator(model_fn, sys.argv[1])
    est.train(functools.partial(input_fn, 8))
    out = {k: float(v) for k, v in est.evaluate(input_fn).items()}
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({'z': np.zeros([1, 2], np.float32), 'y': np.zeros([1], np.int64)}) if False else \
        (lambda: tf.estimator.export.ServingInputReceiver({'z': tf.placeholder(tf.float32, [None, 2]), 'y': tf.placeholder(tf.int64, [None])}, {'z': tf.get_default_graph().get_tensor_by_name('Placeholder:0'), 'y': tf.get_default_graph().get_tensor_by_name('Placeholder_1:0')}))
    where = est.export_savedmodel(os.path.join(sys.argv[1], 'export'), receiver)
    decode = tf.contrib.predictor.from_saved_model(where, signature_def_key='decode')
    probs = decode({'z': [[0., 0.], [1., -1.]], 'y': [0, 2]})
    print(json.dumps({'out': out, 'probs': {k: v.tolist() for k, v in probs.items()}, 'average': float(est.get_variable_value('loss_average'))}))
