# -*- coding: utf-8 -*-
"""BST: transformer 行为序列 (TensorFlow 2.1 时代, 用 compat.v1 写): 2.x 里的 estimator"""
import json
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
tf.app.flags.DEFINE_integer('heads', 2, '头数')
tf.app.flags.DEFINE_float('lr', .02, '学习率')
FLAGS = tf.app.flags.FLAGS

rng = np.random.RandomState(21)
SEQ, TARGET = rng.randint(1, 20, (48, 6)), rng.randint(1, 20, 48)
LABEL = ((SEQ == TARGET[:, None]).any(1) | (TARGET < 6)).astype(np.float32)


def layer_norm(x, name):
    with tf.variable_scope(name):
        gamma = tf.get_variable('gamma', [x.shape[-1].value], initializer=tf.ones_initializer())
        beta = tf.get_variable('beta', [x.shape[-1].value], initializer=tf.zeros_initializer())
        mean, var = tf.nn.moments(x, [-1], keep_dims=True)
        return gamma * (x - mean) * tf.rsqrt(var + 1e-6) + beta


def block(x, name):
    with tf.variable_scope(name, initializer=tf.glorot_uniform_initializer(seed=1)):
        d = x.shape[-1].value
        q, k, v = [tf.layers.dense(x, d, use_bias=False, name=n) for n in 'qkv']
        q, k, v = [tf.concat(tf.split(t, FLAGS.heads, -1), 0) for t in (q, k, v)]
        att = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / np.sqrt(d / FLAGS.heads))
        x = layer_norm(x + tf.concat(tf.split(tf.matmul(att, v), FLAGS.heads, 0), -1), 'ln1')
        return layer_norm(x + tf.layers.dense(tf.layers.dense(x, 8, tf.nn.leaky_relu, name='ff1'), d, name='ff2'), 'ln2')


def model_fn(features, labels, mode):
    table = tf.get_variable('table', [20, 4], initializer=tf.random_normal_initializer(stddev=.5, seed=2))
    pos = tf.get_variable('pos', [7, 4], initializer=tf.random_normal_initializer(stddev=.1, seed=3))
    x = tf.nn.embedding_lookup(table, tf.concat([features['seq'], features['target'][:, None]], 1)) + pos
    x = tf.reshape(block(x, 'block'), [-1, 28])
    logits = tf.squeeze(tf.layers.dense(x, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=4)), -1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=dict(p=tf.sigmoid(logits)))
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.train.AdamOptimizer(FLAGS.lr).minimize(loss, tf.train.get_global_step()),
                                      eval_metric_ops=dict(auc=tf.metrics.auc(labels, tf.sigmoid(logits))))


def input_fn(n=1):
    return tf.data.Dataset.from_tensor_slices((dict(seq=SEQ, target=TARGET), LABEL)).repeat(n).batch(16)


def main(_):
    est = tf.estimator.Estimator(model_fn, 'bst', tf.estimator.RunConfig(tf_random_seed=1, save_checkpoints_steps=5))
    tf.estimator.train_and_evaluate(est, tf.estimator.TrainSpec(lambda: input_fn(None), max_steps=15), tf.estimator.EvalSpec(input_fn, steps=None, throttle_secs=0))
    print(json.dumps({'eval': {k: float(v) for k, v in est.evaluate(input_fn).items()}, 'p': [float(r['p']) for r in est.predict(input_fn)][:4]}))


if __name__ == '__main__':
    tf.app.run()
