#coding:utf-8
"""PNN 内积/外积 (TensorFlow 1.7), pandas 读 CSV, feed 式 input_fn 加 hook 初始化迭代器"""
from __future__ import print_function
import json
import pandas as pd
import numpy as np
import tensorflow as tf


class IteratorInitializerHook(tf.train.SessionRunHook):
    """初始化 iterator"""
    def __init__(self):
        super(IteratorInitializerHook, self).__init__()
        self.iterator_initializer_func = None

    def after_create_session(self, session, coord):
        self.iterator_initializer_func(session)


rng = np.random.RandomState(3)
df = pd.DataFrame(rng.randint(0, 8, (80, 5)), columns=['f%d' % i for i in range(5)])
df['target'] = ((df.f0 * df.f1) > 12).astype(int)
df.to_csv('train.csv', index=False)
dfTrain = pd.read_csv('train.csv')
cols = [c for c in dfTrain.columns if c not in ['target']]
# 特征字典
feat_dict, tc = {}, 0
for col in cols:
    us = sorted(dfTrain[col].unique())
    feat_dict[col] = dict(zip(us, range(tc, len(us) + tc)))
    tc += len(us)
Xi = np.stack([dfTrain[c].map(feat_dict[c]).values for c in cols], 1).astype(np.int32)
y = dfTrain['target'].values.astype(np.float32).reshape(-1, 1)


def get_inputs(index, epochs):
    hook = IteratorInitializerHook()

    def inputs():
        with tf.name_scope('data'):
            xi_placeholder = tf.placeholder(Xi.dtype, Xi[index].shape)
            y_placeholder = tf.placeholder(y.dtype, y[index].shape)
            dataset = tf.data.Dataset.from_tensor_slices((xi_placeholder, y_placeholder)).repeat(epochs).batch(16)
            iterator = dataset.make_initializable_iterator()
            hook.iterator_initializer_func = lambda sess: sess.run(iterator.initializer, feed_dict={xi_placeholder: Xi[index], y_placeholder: y[index]})
            next_xi, next_y = iterator.get_next()
            return {'xi': next_xi}, next_y
    return inputs, hook


def model_fn(features, labels, mode, params):
    field, k, d1 = len(cols), params['k'], params['d1']
    weights = {
        'emb': tf.Variable(tf.random_normal([tc, k], 0.0, 0.2, seed=1), name='feature_embeddings'),
        'linear': tf.Variable(tf.random_normal([d1, field, k], 0.0, 0.2, seed=2), name='product_linear'),
        'inner': tf.Variable(tf.random_normal([d1, field], 0.0, 0.2, seed=3), name='product_quadratic_inner'),
        'outer': tf.Variable(tf.random_normal([d1, k, k], 0.0, 0.2, seed=4), name='product_quadratic_outer'),
        'bias': tf.Variable(tf.zeros([d1]), name='product_bias')}
    embeddings = tf.nn.embedding_lookup(weights['emb'], features['xi'])
    linear_output = [tf.reshape(tf.reduce_sum(tf.multiply(embeddings, weights['linear'][i]), axis=[1, 2]), shape=(-1, 1)) for i in range(d1)]
    lz = tf.concat(linear_output, axis=1)
    quad = []
    if params['use_inner']:
        for i in range(d1):
            theta = tf.multiply(embeddings, tf.reshape(weights['inner'][i], (1, -1, 1)))
            quad.append(tf.reshape(tf.norm(tf.reduce_sum(theta, axis=1), axis=1), shape=(-1, 1)))
    else:
        embedding_sum = tf.reduce_sum(embeddings, axis=1)
        p = tf.matmul(tf.expand_dims(embedding_sum, 2), tf.expand_dims(embedding_sum, 1))
        for i in range(d1):
            quad.append(tf.reshape(tf.reduce_sum(tf.multiply(p, tf.expand_dims(weights['outer'][i], 0)), axis=[1, 2]), shape=(-1, 1)))
    y_deep = tf.nn.relu(tf.add(tf.add(lz, tf.concat(quad, axis=1)), weights['bias']))
    logits = tf.layers.dense(y_deep, 1, kernel_initializer=tf.constant_initializer(0.3))
    out = tf.nn.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=out)
    loss = tf.losses.log_loss(labels, out)
    op = tf.train.MomentumOptimizer(learning_rate=0.1, momentum=0.9, use_nesterov=True).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=op, eval_metric_ops={'auc': tf.metrics.auc(labels, out), 'rmse': tf.metrics.root_mean_squared_error(labels, out)})


train_index, valid_index = np.arange(60), np.arange(60, 80)
results = {}
for use_inner in (True, False):
    est = tf.estimator.Estimator(model_fn, params={'k': 3, 'd1': 4, 'use_inner': use_inner})
    fn, hook = get_inputs(train_index, 5)
    est.train(fn, hooks=[hook])
    fn, hook = get_inputs(valid_index, 1)
    results['inner' if use_inner else 'outer'] = {k: float(v) for k, v in est.evaluate(fn, hooks=[hook]).items()}
    fn, hook = get_inputs(valid_index, 1)
    results['pred%d' % use_inner] = [float(p[0]) for p in est.predict(fn, hooks=[hook])][:4]
print(json.dumps(results))
