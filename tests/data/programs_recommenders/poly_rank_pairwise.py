# -*- coding: utf-8 -*-
"""Pairwise 排序 (RankNet / LambdaRank) 与自定义 metric (TensorFlow 1.9)"""
import json
import numpy as np
import tensorflow as tf

rng = np.random.RandomState(13)
Q = rng.rand(12, 4, 3).astype(np.float32)  # 12 个 query, 每个 4 个文档
REL = (Q.sum(2) * 2).astype(np.int64)


def ndcg(labels, scores):
    """自定义 metric: py_func 计算 NDCG"""
    def compute(l, s):
        out = []
        for a, b in zip(l, s):
            order = np.argsort(-b, kind='mergesort')
            gain = ((2.0 ** a[order] - 1) / np.log2(np.arange(len(a)) + 2)).sum()
            best = ((2.0 ** np.sort(a)[::-1] - 1) / np.log2(np.arange(len(a)) + 2)).sum()
            out.append(gain / max(best, 1e-9))
        return np.array(out, np.float32)
    value = tf.py_func(compute, [labels, scores], tf.float32)
    value.set_shape([None])
    return tf.metrics.mean(value)


def my_count(values):
    total = tf.get_local_variable('total', shape=[], initializer=tf.zeros_initializer(), collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES])
    return total, tf.assign_add(total, tf.to_float(tf.shape(values)[0]))


def model_fn(features, labels, mode, params):
    x = tf.layers.dense(features['docs'], 4, tf.nn.relu, kernel_initializer=tf.truncated_normal_initializer(stddev=.5, seed=1), kernel_regularizer=tf.contrib.layers.l1_l2_regularizer(.001, .001))
    scores = tf.squeeze(tf.layers.dense(x, 1, use_bias=False, kernel_initializer=tf.truncated_normal_initializer(stddev=.5, seed=2)), -1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'scores': scores})
    s = tf.expand_dims(scores, 2) - tf.expand_dims(scores, 1)
    t = tf.to_float(tf.sign(tf.expand_dims(labels, 2) - tf.expand_dims(labels, 1)))
    pair = tf.where(t > 0, tf.nn.softplus(-s), tf.zeros_like(s))
    loss = tf.div(tf.reduce_sum(pair), tf.maximum(tf.reduce_sum(tf.cast(t > 0, tf.float32)), 1)) + tf.losses.get_regularization_loss()
    step = tf.train.get_global_step()
    lr = tf.train.cosine_decay(.1, step, 20)
    opt = tf.contrib.opt.LazyAdamOptimizer(lr) if params.get('lazy') else tf.train.AdamOptimizer(lr)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=opt.minimize(loss, step), eval_metric_ops={'ndcg': ndcg(labels, scores), 'queries': my_count(labels)})


def input_fn(n=1):
    return tf.data.Dataset.from_tensor_slices(({'docs': Q}, REL)).repeat(n).batch(5)


out = {}
for lazy in (False, True):
    est = tf.estimator.Estimator(model_fn, 'rank_%d' % lazy, params={'lazy': lazy})
    est.train(lambda: input_fn(6))
    out[str(lazy)] = [{k: float(v) for k, v in est.evaluate(input_fn).items()}, next(est.predict(input_fn))['scores'].tolist()]
print(json.dumps(out))
