# -*- coding: UTF-8 -*-
"""特征哈希 LR + L1/FTRL 稀疏 (TensorFlow 1.10): string_to_hash_bucket_fast, embedding_lookup_sparse, VarLenFeature"""
import json, os
import numpy as np
import tensorflow as tf
BUCKETS = 64
rng = np.random.RandomState(6)


def example(words, weights, label):
    f = {'words': tf.train.Feature(bytes_list=tf.train.BytesList(value=[w.encode('utf8') for w in words])),
         'weights': tf.train.Feature(float_list=tf.train.FloatList(value=weights)), 'y': tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))}
    return tf.train.Example(features=tf.train.Features(feature=f))


with tf.python_io.TFRecordWriter('samples.rec') as w:
    for _ in range(50):
        n = rng.randint(1, 5)
        words = ['词%d' % i for i in rng.randint(0, 12, n)]
        w.write(example(words, rng.rand(n).tolist(), int('词3' in words or '词7' in words)).SerializeToString())


def input_fn(epochs=1):
    def parse(batch):
        parsed = tf.parse_example(batch, {'words': tf.VarLenFeature(tf.string), 'weights': tf.VarLenFeature(tf.float32), 'y': tf.FixedLenFeature([1], tf.int64)})
        y = parsed.pop('y')
        return parsed, y
    return tf.data.TFRecordDataset('samples.rec').repeat(epochs).batch(10).map(parse)


def model_fn(features, labels, mode, params):
    words = features['words']
    ids = tf.SparseTensor(words.indices, tf.string_to_hash_bucket_fast(words.values, BUCKETS), words.dense_shape)
    table = tf.get_variable('lr_w', [BUCKETS, 1], initializer=tf.zeros_initializer())
    bias = tf.get_variable('lr_b', [1], initializer=tf.zeros_initializer())
    logits = tf.nn.embedding_lookup_sparse(table, ids, features['weights'], combiner=params['combiner']) + bias
    one = tf.sparse_reduce_sum(tf.SparseTensor(ids.indices, tf.ones_like(ids.values), ids.dense_shape), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'p': tf.sigmoid(logits), 'n': one})
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    opt = tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.01, initial_accumulator_value=0.1)
    metrics = {'auc': tf.metrics.auc(labels, tf.sigmoid(logits)), 'nonzero': tf.metrics.mean(tf.to_float(tf.not_equal(table, 0)))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=opt.minimize(loss, tf.train.get_global_step()), eval_metric_ops=metrics)


out = {}
for combiner in ('sum', 'mean', 'sqrtn'):
    est = tf.estimator.Estimator(model_fn, os.path.join('lr', combiner), params={'combiner': combiner})
    est.train(lambda: input_fn(3))
    batch = next(est.predict(input_fn, predict_keys=['p', 'n'], yield_single_examples=False))
    out[combiner] = [{k: float(v) for k, v in est.evaluate(input_fn).items()}, batch['p'][:4].tolist(), batch['n'].tolist()]
print(json.dumps(out))
