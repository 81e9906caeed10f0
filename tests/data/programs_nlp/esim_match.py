# -*- coding: utf-8 -*-
"""ESIM: text matching with soft alignment. TensorFlow 1.8 style, params in a json, hooks that save the best."""
from __future__ import print_function, division
import json
import os
import shutil
import sys
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import array_ops
from tensorflow.python.training import session_run_hook, training_util
from tensorflow.contrib.rnn import BasicLSTMCell, DropoutWrapper, LSTMStateTuple

Config = dict(vocab=40, dim=6, hidden=5, maxlen=6, classes=3, keep=1.0, rate=0.01, clip=10.)


class LossHistory(session_run_hook.SessionRunHook):
    """Collects losses; reads the step with get_or_create_steps."""

    def __init__(self):
        self.losses = []

    def begin(self):
        self._global_step_tensor = training_util._get_or_create_global_step_read()
        self._loss = tf.get_collection(tf.GraphKeys.LOSSES)[0]

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs([self._global_step_tensor, self._loss])

    def after_run(self, run_context, run_values):
        step, loss = run_values.results
        self.losses.append(float(loss))


def biLSTMBlock(inputs, num_units, scope, seq_len=None, isReuse=False, keep=1.0):
    with tf.variable_scope(scope, reuse=isReuse, initializer=tf.random_normal_initializer(0.0, 0.3, seed=1)):
        lstmCell = BasicLSTMCell(num_units=num_units)
        drop = lambda: DropoutWrapper(lstmCell, output_keep_prob=keep, seed=2)
        fw, bw = drop(), drop()
        output = tf.nn.bidirectional_dynamic_rnn(cell_fw=fw, cell_bw=bw, inputs=inputs, sequence_length=seq_len, dtype=tf.float32)
        return output


def feedForwardBlock(inputs, num_units, scope, isReuse=False, initializer=None):
    with tf.variable_scope(scope, reuse=isReuse):
        if initializer is None:
            initializer = tf.contrib.layers.xavier_initializer(seed=4)
        with tf.variable_scope('feed_foward_layer1'):
            inputs = tf.nn.dropout(inputs, Config['keep'])
            outputs = tf.layers.dense(inputs, num_units, tf.nn.relu, kernel_initializer=initializer)
        with tf.variable_scope('feed_foward_layer2'):
            outputs = tf.nn.dropout(outputs, Config['keep'])
            return tf.layers.dense(outputs, Config['classes'], tf.nn.tanh, kernel_initializer=initializer)


def esim(features, labels, mode, params, config):
    premise, hypothesis = features['premise'], features['hypothesis']
    premise_mask = tf.cast(tf.not_equal(premise, 0), tf.float32)
    hypothesis_mask = tf.cast(tf.not_equal(hypothesis, 0), tf.float32)
    plen = tf.cast(tf.reduce_sum(premise_mask, 1), tf.int32)
    hlen = tf.cast(tf.reduce_sum(hypothesis_mask, 1), tf.int32)
    with tf.device('/cpu:0'):
        Embedding = tf.get_variable('Embedding', [params['vocab'], params['dim']], tf.float32, initializer=tf.random_uniform_initializer(-.5, .5, seed=5))
        premise_e, hypothesis_e = tf.nn.embedding_lookup(Embedding, premise), tf.nn.embedding_lookup(Embedding, hypothesis)
    outputsP, _ = biLSTMBlock(premise_e, params['hidden'], 'biLSTM', plen)
    outputsH, _ = biLSTMBlock(hypothesis_e, params['hidden'], 'biLSTM', hlen, isReuse=True)
    a, b = tf.concat(outputsP, axis=2), tf.concat(outputsH, axis=2)
    weights = tf.matmul(a, tf.transpose(b, [0, 2, 1]))
    softA = tf.nn.softmax(weights + (1 - hypothesis_mask[:, None, :]) * -1e9)
    softB = tf.nn.softmax(tf.transpose(weights, [0, 2, 1]) + (1 - array_ops.expand_dims(premise_mask, 1)) * -1e9)
    a_hat, b_hat = tf.matmul(softA, b), tf.matmul(softB, a)
    m_a = tf.concat([a, a_hat, tf.subtract(a, a_hat), tf.multiply(a, a_hat)], axis=2)
    m_b = tf.concat([b, b_hat, tf.subtract(b, b_hat), tf.multiply(b, b_hat)], axis=2)
    outputV_a, _ = biLSTMBlock(m_a, params['hidden'], 'biLSTM2', plen)
    outputV_b, states = biLSTMBlock(m_b, params['hidden'], 'biLSTM2', hlen, isReuse=True)
    assert isinstance(states[0], LSTMStateTuple)
    v_a, v_b = tf.concat(outputV_a, axis=2), tf.concat(outputV_b, axis=2)
    v = tf.concat([tf.div(tf.reduce_sum(v_a, 1), tf.to_float(tf.expand_dims(plen, 1))), tf.reduce_max(v_a, axis=1), tf.reduce_mean(v_b, axis=1), tf.reduce_max(v_b, axis=1)], 1)
    logits = feedForwardBlock(v, params['hidden'], 'feed_forward')
    predictions = {'label': tf.argmax(logits, -1), 'logits': logits, 'align': softA}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    with tf.name_scope('cost'):
        tf.losses.softmax_cross_entropy(tf.one_hot(labels, params['classes']), logits, label_smoothing=0.05)
        weights_l2 = [v for v in tf.trainable_variables() if ('w' in v.name) or ('kernel' in v.name)]
        cost = tf.losses.get_total_loss() + 1e-4 * tf.add_n([tf.nn.l2_loss(w) for w in weights_l2])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, predictions, cost, eval_metric_ops={'acc': tf.metrics.accuracy(labels, predictions['label']),
                                                                                  'hit_first': tf.metrics.precision_at_k(tf.cast(labels, tf.int64), logits, 1)})
    optimizer = tf.train.AdamOptimizer(params['rate'])
    grads, tvars = zip(*optimizer.compute_gradients(cost, var_list=tf.trainable_variables()))
    grads, norm = tf.clip_by_global_norm(grads, params['clip'])
    train_op = optimizer.apply_gradients(list(zip(grads, tvars)), tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, cost, train_op)


def pairs(seed, n):
    rng = np.random.RandomState(seed)
    p = rng.randint(1, Config['vocab'], [n, Config['maxlen']]).astype('int32')
    y = rng.randint(0, 3, n).astype('int32')
    h = p.copy()
    h[y == 1] = rng.randint(1, Config['vocab'], [int((y == 1).sum()), Config['maxlen']])
    h[y == 2, ::2] = 1
    p[::4, -2:] = 0
    return p, h, y


def input_fn(seed, n, epochs):
    p, h, y = pairs(seed, n)
    ds = tf.data.Dataset.zip((tf.data.Dataset.from_tensor_slices(p), tf.data.Dataset.from_tensor_slices(h), tf.data.Dataset.from_tensor_slices(y)))
    ds = ds.repeat(epochs).batch(8).map(lambda a, b, c: ({'premise': a, 'hypothesis': b}, c))
    return ds.make_one_shot_iterator().get_next()


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.ERROR)
    history = LossHistory()
    nn = tf.estimator.Estimator(esim, sys.argv[1], params=Config)
    nn.train(lambda: input_fn(0, 32, 6), hooks=[history])
    scores = nn.evaluate(lambda: input_fn(0, 32, 1), name='same')
    row = list(nn.predict(lambda: input_fn(1, 4, 1), predict_keys=['label', 'align']))[0]
    print(json.dumps({'losses': history.losses[::6], 'acc': float(scores['acc']), 'loss': float(scores['loss']), 'align': row['align'][0].tolist(), 'keys': sorted(row)}))
