# -*- coding: utf-8 -*-
"""YouTube DNN 召回 (TensorFlow 1.12): sampled softmax / nce, 词表 lookup, 导出用户向量, 内积 topk"""
import json
import numpy as np
import tensorflow as tf
from sklearn.preprocessing import LabelEncoder
from sklearn.metrics.pairwise import cosine_similarity

rng = np.random.RandomState(12)
items = np.array(['item_%02d' % i for i in range(15)])
encoder = LabelEncoder().fit(items)
hist = items[rng.randint(0, 15, (45, 3))]
nxt = encoder.transform(hist[:, 0])
with open('vocab.txt', 'w') as f:
    f.write('\n'.join(items))


def input_fn(n=1):
    return tf.data.Dataset.from_tensor_slices(({'hist': hist, 'age': rng.rand(45).astype('f') * 0 + .5}, nxt)).repeat(n).batch(15)


def model_fn(features, labels, mode, params):
    lookup = tf.contrib.lookup.index_table_from_file('vocab.txt', num_oov_buckets=1)
    reverse = tf.contrib.lookup.index_to_string_table_from_file('vocab.txt', default_value='none')
    ids = lookup.lookup(features['hist'])
    emb = tf.get_variable('item_emb', [16, 6], initializer=tf.random_uniform_initializer(-.5, .5, seed=1))
    x = tf.concat([tf.reduce_mean(tf.nn.embedding_lookup(emb, ids), 1), tf.expand_dims(features['age'], 1)], 1)
    user = tf.layers.dense(x, 6, tf.nn.tanh, kernel_initializer=tf.glorot_uniform_initializer(seed=2), name='user')
    w = tf.get_variable('nce_w', [15, 6], initializer=tf.random_uniform_initializer(-.5, .5, seed=3))
    b = tf.get_variable('nce_b', [15], initializer=tf.zeros_initializer())
    logits = tf.matmul(user, w, transpose_b=True) + b
    values, index = tf.nn.top_k(logits, params['topk'])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'items': reverse.lookup(tf.to_int64(index)), 'user': user, 'score': values})
    if mode == tf.estimator.ModeKeys.TRAIN:
        loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(
            weights=w, biases=b, labels=tf.reshape(labels, [-1, 1]), inputs=user, num_sampled=5, num_classes=15,
            sampled_values=(tf.constant([0, 3, 6, 9, 12], tf.int64), tf.ones([15, 1]) * .3, tf.ones([5]) * .3), remove_accidental_hits=True))
        train_op = tf.train.AdamOptimizer(.05).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={
        'recall_3': tf.metrics.recall_at_k(labels, logits, 3), 'map_3': tf.metrics.average_precision_at_k(labels, logits, 3), 'prec_1': tf.metrics.precision_at_k(labels, logits, 1)})


est = tf.estimator.Estimator(model_fn, 'youtube', params={'topk': 3})
est.train(lambda: input_fn(8))
rows = list(est.predict(input_fn))
users = np.stack([r['user'] for r in rows])
print(json.dumps({'eval': {k: float(v) for k, v in est.evaluate(input_fn).items()}, 'items': [i.decode() for i in rows[0]['items']],
                  'score': rows[0]['score'].tolist(), 'cos': cosine_similarity(users[:2], users[2:4]).round(3).tolist()}))
