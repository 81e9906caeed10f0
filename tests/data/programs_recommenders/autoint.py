# -*- coding: utf-8 -*-
"""AutoInt, 多头自注意力特征交叉 (TensorFlow 1.12)"""
import json, os, sys, logging
import numpy as np
import tensorflow as tf
logging.basicConfig(level=logging.INFO)
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'


def normalize(inputs, epsilon=1e-8):
    inputs_shape = inputs.get_shape()
    params_shape = inputs_shape[-1:]
    mean, variance = tf.nn.moments(inputs, [-1], keep_dims=True)
    beta = tf.Variable(tf.zeros(params_shape), name='beta')
    gamma = tf.Variable(tf.ones(params_shape), name='gamma')
    normalized = (inputs - mean) / ((variance + epsilon) ** (.5))
    return gamma * normalized + beta


def multihead_attention(queries, keys, values, num_units, num_heads, has_residual=True):
    init = lambda seed: tf.glorot_uniform_initializer(seed=seed)
    Q = tf.layers.dense(queries, num_units, activation=tf.nn.relu, kernel_initializer=init(1))
    K = tf.layers.dense(keys, num_units, activation=tf.nn.relu, kernel_initializer=init(2))
    V = tf.layers.dense(values, num_units, activation=tf.nn.relu, kernel_initializer=init(3))
    if has_residual:
        V_res = tf.layers.dense(values, num_units, activation=tf.nn.relu, kernel_initializer=init(4))
    Q_, K_, V_ = [tf.concat(tf.split(x, num_heads, axis=2), axis=0) for x in (Q, K, V)]
    weights = tf.matmul(Q_, tf.transpose(K_, [0, 2, 1]))
    weights = weights / (K_.get_shape().as_list()[-1] ** 0.5)
    weights = tf.nn.softmax(weights)
    outputs = tf.matmul(weights, V_)
    outputs = tf.concat(tf.split(outputs, num_heads, axis=0), axis=2)
    if has_residual:
        outputs += V_res
    return normalize(tf.nn.relu(outputs))


def model_fn(features, labels, mode, params):
    with tf.variable_scope('AutoInt'):
        table = tf.Variable(tf.random_normal([params['size'], params['k']], 0.0, 0.1, seed=5), name='feature_embeddings')
        y = tf.nn.embedding_lookup(table, features['ids']) * tf.expand_dims(features['vals'], -1)
        for _ in range(params['blocks']):
            y = multihead_attention(y, y, y, num_units=8, num_heads=2)
        flat = tf.reshape(y, shape=[-1, params['fields'] * 8])
        out = tf.layers.dense(flat, 1, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1, seed=6))
    logits = tf.identity(out[:, 0], name='logits')
    prob = tf.nn.sigmoid(logits, name='pred')
    spec = {'predictions': {'pred': prob}}
    if mode != tf.estimator.ModeKeys.PREDICT:
        spec['loss'] = tf.contrib.losses.log_loss(prob, labels)
        spec['eval_metric_ops'] = {'auc': tf.contrib.metrics.streaming_auc(prob, labels), 'logloss': tf.metrics.mean(spec['loss'])}
    if mode == tf.estimator.ModeKeys.TRAIN:
        spec['train_op'] = tf.train.AdamOptimizer(0.02).minimize(spec['loss'], tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode=mode, **spec)


def load(seed):
    rng = np.random.RandomState(seed)
    ids = np.stack([rng.randint(5 * f, 5 * f + 5, 70) for f in range(4)], 1)
    return {'ids': ids, 'vals': np.ones([70, 4], np.float32)}, ((ids[:, 0] + ids[:, 1]) % 2).astype(np.float32)


if __name__ == '__main__':
    (x, y), (vx, vy) = load(1), load(2)
    train_fn = tf.estimator.inputs.numpy_input_fn(x, y, batch_size=10, num_epochs=4, shuffle=False)
    test_fn = tf.estimator.inputs.numpy_input_fn(vx, vy, batch_size=35, shuffle=False)
    est = tf.estimator.Estimator(model_fn, model_dir='./autoint', params={'size': 20, 'k': 6, 'blocks': 2, 'fields': 4})
    est.train(train_fn)
    result = est.evaluate(test_fn, name='valid')
    preds = np.array([p['pred'] for p in est.predict(test_fn)])
    np.savetxt('pred.txt', preds, fmt='%.5f')
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'pred': np.loadtxt('pred.txt')[:5].tolist(), 'mean': float(preds.mean())}))
