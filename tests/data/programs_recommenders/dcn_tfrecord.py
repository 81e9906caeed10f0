#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Deep & Cross Network 读取 TFRecord (TensorFlow 1.12)"""
import argparse
import json
import os

import numpy as np
import tensorflow as tf

# 连续特征与离散特征
NUM_COLUMNS = ['i1', 'i2', 'i3']
CAT_COLUMNS = ['c1', 'c2']


def int64_feature(v):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[v]))


def to_tfrecord(path, seed, n=80):
    rng = np.random.RandomState(seed)
    writer = tf.python_io.TFRecordWriter(path, options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP))
    for _ in range(n):
        nums, cats = rng.rand(3), rng.randint(0, 6, 2)
        label = int(nums[0] + cats[0] / 6. > 1)
        feature = {k: tf.train.Feature(float_list=tf.train.FloatList(value=[v])) for k, v in zip(NUM_COLUMNS, nums)}
        feature.update({k: tf.train.Feature(bytes_list=tf.train.BytesList(value=[('v%d' % v).encode('utf-8')])) for k, v in zip(CAT_COLUMNS, cats)})
        feature['label'] = int64_feature(label)
        writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    writer.close()


def input_fn(path, epochs, batch_size):
    spec = {k: tf.FixedLenFeature([], tf.float32, default_value=0.0) for k in NUM_COLUMNS}
    spec.update({k: tf.FixedLenFeature([], tf.string, default_value='') for k in CAT_COLUMNS})
    spec['label'] = tf.FixedLenFeature([], tf.int64)

    def parse(serialized):
        parsed = tf.parse_example(serialized, spec)
        label = tf.to_float(parsed.pop('label'))
        return parsed, label

    ds = tf.data.TFRecordDataset([path], compression_type='GZIP', num_parallel_reads=1)
    return ds.apply(tf.contrib.data.shuffle_and_repeat(1, epochs)).batch(batch_size).map(parse, 4).prefetch(tf.contrib.data.AUTOTUNE)


def cross_layer(x0, xl, index):
    """x_{l+1} = x0 * xl^T * w + b + xl"""
    dim = x0.get_shape().as_list()[-1]
    with tf.variable_scope('cross_%d' % index):
        w = tf.get_variable('w', [dim, 1], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=index))
        b = tf.get_variable('b', [dim], initializer=tf.zeros_initializer(), regularizer=tf.contrib.layers.l2_regularizer(0.01))
        return x0 * tf.matmul(xl, w) + b + xl


def model_fn(features, labels, mode, params):
    dense_input = tf.feature_column.input_layer(features, params['num_columns'])
    cat_input = tf.feature_column.input_layer(features, params['cat_columns'])
    x0 = tf.concat([dense_input, cat_input], axis=1)
    x = x0
    for i in range(params['cross_layers']):
        x = cross_layer(x0, x, i)
    deep = x0
    for i, units in enumerate(params['hidden_units']):
        deep = tf.layers.dense(deep, units, use_bias=False, kernel_initializer=tf.glorot_normal_initializer(seed=20 + i))
        deep = tf.nn.leaky_relu(tf.layers.batch_normalization(deep, training=mode == tf.estimator.ModeKeys.TRAIN, momentum=0.8))
    logits = tf.squeeze(tf.layers.dense(tf.concat([x, deep], -1), 1, kernel_initializer=tf.glorot_normal_initializer(seed=30)), axis=1)
    prob = tf.nn.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'prob': prob})
    reg = tf.losses.get_regularization_loss()
    loss = tf.losses.sigmoid_cross_entropy(labels, logits) + reg
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {'auc': tf.metrics.auc(labels, prob, num_thresholds=100, summation_method='careful_interpolation'),
                   'pr_auc': tf.metrics.auc(labels, prob, curve='PR'), 'ctr': tf.metrics.mean(labels), 'pctr': tf.metrics.mean(prob)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    global_step = tf.train.get_or_create_global_step()
    lr = tf.train.polynomial_decay(0.05, global_step, 20, 0.001, power=1.0)
    opt = tf.train.AdamOptimizer(lr)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        grads_and_vars = opt.compute_gradients(loss)
        clipped = [(tf.clip_by_norm(g, 1.0), v) for g, v in grads_and_vars if g is not None]
        train_op = opt.apply_gradients(clipped, global_step=global_step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--batch_size', type=int, default=16)
    args, unknown = parser.parse_known_args()
    to_tfrecord('train.gz', 1)
    to_tfrecord('test.gz', 2, 40)
    num_columns = [tf.feature_column.numeric_column(k) for k in NUM_COLUMNS]
    cat_columns = [tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_hash_bucket(k, 10), 3, initializer=tf.truncated_normal_initializer(stddev=0.3, seed=40 + i))
        for i, k in enumerate(CAT_COLUMNS)]
    estimator = tf.estimator.Estimator(
        model_fn, os.path.abspath('dcn'), params=dict(num_columns=num_columns, cat_columns=cat_columns, cross_layers=2, hidden_units=[8, 4]),
        config=tf.estimator.RunConfig(tf_random_seed=2019, keep_checkpoint_max=1))
    estimator.train(lambda: input_fn('train.gz', args.epochs, args.batch_size))
    metrics = estimator.evaluate(lambda: input_fn('test.gz', 1, args.batch_size))
    probs = [float(p['prob']) for p in estimator.predict(lambda: input_fn('test.gz', 1, args.batch_size))][:6]
    print(json.dumps({'metrics': {k: float(v) for k, v in metrics.items()}, 'probs': probs}))
