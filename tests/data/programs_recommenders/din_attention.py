# coding=utf-8
"""DIN 注意力 (TensorFlow 1.8): 变长行为序列, padded_batch, dice 激活, GAUC"""
import json
import random
import pickle

import numpy as np
import tensorflow as tf

random.seed(1234)
np.random.seed(1234)
item_count, cate_count = 20, 5
cate_list = [i % cate_count for i in range(item_count)]

# 生成数据 (uid, history, target, label)
train_set = []
for uid in range(40):
    hist = [random.randint(0, item_count - 1) for _ in range(random.randint(2, 6))]
    target = random.randint(0, item_count - 1)
    train_set.append((uid % 8, hist, target, int(any(cate_list[h] == cate_list[target] for h in hist))))
with open('dataset.pkl', 'wb') as f:
    pickle.dump(train_set, f, pickle.HIGHEST_PROTOCOL)
    pickle.dump(cate_list, f, pickle.HIGHEST_PROTOCOL)


def input_fn(epochs=1):
    with open('dataset.pkl', 'rb') as f:
        data, _ = pickle.load(f), pickle.load(f)

    def gen():
        for uid, hist, target, label in data:
            yield {'uid': uid, 'hist': hist, 'sl': len(hist), 'target': target}, label

    ds = tf.data.Dataset.from_generator(
        gen, ({'uid': tf.int32, 'hist': tf.int32, 'sl': tf.int32, 'target': tf.int32}, tf.float32),
        ({'uid': [], 'hist': [None], 'sl': [], 'target': []}, []))
    return ds.repeat(epochs).padded_batch(10, ({'uid': [], 'hist': [None], 'sl': [], 'target': []}, []))


def dice(_x, axis=-1, epsilon=0.000000001, name=''):
    with tf.variable_scope(name_or_scope='', reuse=tf.AUTO_REUSE):
        alphas = tf.get_variable('alpha' + name, _x.get_shape()[-1], initializer=tf.constant_initializer(0.0), dtype=tf.float32)
    input_shape = list(_x.get_shape())
    reduction_axes = list(range(len(input_shape)))
    del reduction_axes[axis]
    broadcast_shape = [1] * len(input_shape)
    broadcast_shape[axis] = input_shape[axis]
    mean = tf.reduce_mean(_x, axis=reduction_axes)
    brodcast_mean = tf.reshape(mean, broadcast_shape)
    std = tf.reduce_mean(tf.square(_x - brodcast_mean) + epsilon, axis=reduction_axes)
    brodcast_std = tf.reshape(tf.sqrt(std), broadcast_shape)
    x_normed = (_x - brodcast_mean) / (brodcast_std + epsilon)
    x_p = tf.sigmoid(x_normed)
    return alphas * (1.0 - x_p) * _x + x_p * _x


def attention(queries, keys, keys_length):
    '''queries: [B, H]  keys: [B, T, H]  keys_length: [B]'''
    queries_hidden_units = queries.get_shape().as_list()[-1]
    queries = tf.tile(queries, [1, tf.shape(keys)[1]])
    queries = tf.reshape(queries, [-1, tf.shape(keys)[1], queries_hidden_units])
    din_all = tf.concat([queries, keys, queries - keys, queries * keys], axis=-1)
    d1 = tf.layers.dense(din_all, 8, activation=tf.nn.sigmoid, name='f1_att', reuse=tf.AUTO_REUSE, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    d3 = tf.layers.dense(d1, 1, activation=None, name='f3_att', reuse=tf.AUTO_REUSE, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    outputs = tf.reshape(d3, [-1, 1, tf.shape(keys)[1]])
    key_masks = tf.expand_dims(tf.sequence_mask(keys_length, tf.shape(keys)[1]), 1)
    paddings = tf.ones_like(outputs) * (-2 ** 32 + 1)
    outputs = tf.where(key_masks, outputs, paddings)
    outputs = tf.nn.softmax(outputs / (keys.get_shape().as_list()[-1] ** 0.5))
    return tf.matmul(outputs, keys)


def model_fn(features, labels, mode, params):
    item_emb_w = tf.get_variable("item_emb_w", [item_count, 4], initializer=tf.random_normal_initializer(stddev=0.3, seed=3))
    cate_emb_w = tf.get_variable("cate_emb_w", [cate_count, 4], initializer=tf.random_normal_initializer(stddev=0.3, seed=4))
    item_b = tf.get_variable("item_b", [item_count], initializer=tf.constant_initializer(0.0))
    cates = tf.convert_to_tensor(cate_list, dtype=tf.int64)
    ic = tf.gather(cates, features['target'])
    i_emb = tf.concat(values=[tf.nn.embedding_lookup(item_emb_w, features['target']), tf.nn.embedding_lookup(cate_emb_w, ic)], axis=1)
    i_b = tf.gather(item_b, features['target'])
    hc = tf.gather(cates, features['hist'])
    h_emb = tf.concat([tf.nn.embedding_lookup(item_emb_w, features['hist']), tf.nn.embedding_lookup(cate_emb_w, hc)], axis=2)
    hist = tf.reshape(attention(i_emb, h_emb, features['sl']), [-1, 8])
    din_i = tf.concat([hist, i_emb, hist * i_emb], axis=-1)
    d_layer_1_i = tf.layers.dense(din_i, 8, activation=None, name='f1', kernel_initializer=tf.glorot_uniform_initializer(seed=5))
    d_layer_1_i = dice(d_layer_1_i, name='dice_1')
    d_layer_3_i = tf.layers.dense(d_layer_1_i, 1, activation=None, name='f3', kernel_initializer=tf.glorot_uniform_initializer(seed=6))
    logits = i_b + tf.reshape(d_layer_3_i, [-1])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'score': tf.sigmoid(logits), 'uid': features['uid']})
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=labels))
    trainable_params = tf.trainable_variables()
    opt = tf.train.GradientDescentOptimizer(learning_rate=params['lr'])
    gradients = tf.gradients(loss, trainable_params)
    clip_gradients, _ = tf.clip_by_global_norm(gradients, 5)
    train_op = opt.apply_gradients(zip(clip_gradients, trainable_params), global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={'auc': tf.metrics.auc(labels, tf.sigmoid(logits))})


est = tf.estimator.Estimator(model_fn, 'din', params={'lr': 1.0})
for epoch in range(2):
    est.train(lambda: input_fn(2))
result = est.evaluate(input_fn)
rows = list(est.predict(input_fn))
by_user = {}
for row, one in zip(rows, train_set):
    by_user.setdefault(int(row['uid']), []).append((float(row['score']), one[3]))
good = {u: max(v)[1] for u, v in by_user.items()}
print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'scores': [float(r['score']) for r in rows[:5]], 'good': {str(k): v for k, v in good.items()}}))
