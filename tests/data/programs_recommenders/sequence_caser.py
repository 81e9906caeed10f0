# -*- coding: utf-8 -*-
"""Caser 卷积序列推荐 + 自写 batch norm (TensorFlow 1.5), assign_moving_average"""
from __future__ import absolute_import, division, print_function
import json
import numpy as np
import tensorflow as tf
from tensorflow.python.training import moving_averages
from tensorflow.python.training.moving_averages import assign_moving_average

rng = np.random.RandomState(44)
SEQ = rng.randint(0, 9, (40, 4))
NEXT = (SEQ[:, -1] + 1) % 9


def batch_norm(x, train, name, decay=0.9, eps=1e-5):
    with tf.variable_scope(name):
        shape = x.get_shape().as_list()[-1:]
        beta = tf.get_variable('beta', shape, initializer=tf.constant_initializer(0.0))
        gamma = tf.get_variable('gamma', shape, initializer=tf.constant_initializer(1.0))
        moving_mean = tf.get_variable('moving_mean', shape, initializer=tf.zeros_initializer, trainable=False)
        moving_var = tf.get_variable('moving_var', shape, initializer=tf.ones_initializer, trainable=False)

        def mean_var_with_update():
            mean, variance = tf.nn.moments(x, [0], name='moments')
            with tf.control_dependencies([assign_moving_average(moving_mean, mean, decay, zero_debias=False), assign_moving_average(moving_var, variance, decay, zero_debias=False)]):
                return tf.identity(mean), tf.identity(variance)

        mean, variance = tf.cond(tf.constant(train), mean_var_with_update, lambda: (moving_mean, moving_var))
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, eps)


def model_fn(features, labels, mode):
    table = tf.get_variable('table', [9, 5], initializer=tf.random_normal_initializer(stddev=.5, seed=1))
    image = tf.expand_dims(tf.nn.embedding_lookup(table, features), -1)  # B, 4, 5, 1
    outs = []
    for h in (1, 2):
        f = tf.get_variable('h_%d' % h, [h, 5, 1, 3], initializer=tf.truncated_normal_initializer(stddev=.4, seed=h))
        conv = tf.nn.relu(tf.nn.conv2d(image, f, strides=[1, 1, 1, 1], padding='VALID'))
        outs.append(tf.nn.max_pool(conv, ksize=[1, 4 - h + 1, 1, 1], strides=[1, 1, 1, 1], padding='VALID')[:, 0, 0, :])
    v = tf.layers.conv2d(image, 2, [4, 1], use_bias=False, kernel_initializer=tf.glorot_uniform_initializer(seed=4))
    outs.append(tf.contrib.layers.flatten(v))
    net = batch_norm(tf.concat(outs, 1), mode == tf.estimator.ModeKeys.TRAIN, 'bn')
    logits = tf.layers.dense(net, 9, kernel_initializer=tf.glorot_uniform_initializer(seed=5))
    predictions = {'next': tf.argmax(logits, 1), 'log_prob': tf.nn.log_softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.one_hot(labels, 9), logits=logits))
    train_op = tf.train.AdamOptimizer(.03).minimize(loss, tf.train.get_global_step())
    hit = tf.nn.in_top_k(predictions=logits, targets=labels, k=3)
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, {'acc': tf.metrics.accuracy(labels, predictions['next']), 'hit3': tf.metrics.mean(tf.to_float(hit))})


train_fn = tf.estimator.inputs.numpy_input_fn(SEQ, NEXT, batch_size=10, num_epochs=5, shuffle=False)
eval_fn = tf.estimator.inputs.numpy_input_fn(SEQ, NEXT, batch_size=40, shuffle=False)
est = tf.estimator.Estimator(model_fn, 'caser')
est.train(train_fn)
result = est.evaluate(eval_fn)
rows = list(est.predict(eval_fn))
print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'next': [int(r['next']) for r in rows[:8]], 'log_prob': rows[0]['log_prob'].tolist(),
                  'moving': est.get_variable_value('bn/moving_mean').tolist()}))
