# coding: utf-8
"""DIEN: GRU + AUGRU + 辅助 loss (TensorFlow 1.8), 自定义 RNNCell"""
import json
import numpy as np
import tensorflow as tf
from tensorflow.python.ops.rnn_cell import GRUCell
from tensorflow.python.ops import array_ops, math_ops


class VecAttGRUCell(tf.nn.rnn_cell.RNNCell):
    def __init__(self, num_units, seed):
        super(VecAttGRUCell, self).__init__()
        self._num_units, self._seed = num_units, seed

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def __call__(self, inputs, state, scope=None):
        x, att_score = inputs[:, :-1], inputs[:, -1:]
        with tf.variable_scope(scope or 'vecatt', reuse=tf.AUTO_REUSE):
            init = tf.glorot_uniform_initializer(seed=self._seed)
            size = x.shape[-1].value + self._num_units
            wg = tf.get_variable('gates/kernel', [size, 2 * self._num_units], initializer=init)
            wc = tf.get_variable('candidate/kernel', [size, self._num_units], initializer=init)
            value = math_ops.sigmoid(tf.matmul(array_ops.concat([x, state], 1), wg) + 1.0)
            r, u = array_ops.split(value=value, num_or_size_splits=2, axis=1)
            c = tf.tanh(tf.matmul(array_ops.concat([x, r * state], 1), wc))
            u = (1.0 - att_score) * u
            new_h = u * state + (1 - u) * c
            return new_h, new_h


rng = np.random.RandomState(4)
HIST, LEN = rng.randint(1, 12, (36, 5)), rng.randint(2, 6, 36)
HIST = HIST * (np.arange(5)[None] < LEN[:, None])
TARGET = rng.randint(1, 12, 36)
LABEL = (np.abs(HIST[np.arange(36), LEN - 1] - TARGET) < 4).astype(np.float32)


def input_fn(n=1):
    return tf.data.Dataset.from_tensor_slices(({'hist': HIST, 'len': LEN, 'target': TARGET}, LABEL)).repeat(n).batch(12)


def model_fn(features, labels, mode):
    table = tf.get_variable('table', [12, 4], initializer=tf.random_normal_initializer(stddev=.5, seed=1))
    h, t = tf.nn.embedding_lookup(table, features['hist']), tf.nn.embedding_lookup(table, features['target'])
    with tf.variable_scope('rnn_1', initializer=tf.glorot_uniform_initializer(seed=2)):
        outputs, _ = tf.nn.dynamic_rnn(GRUCell(4), inputs=h, sequence_length=features['len'], dtype=tf.float32)
    score = tf.reduce_sum(outputs * tf.expand_dims(t, 1), -1)
    mask = tf.sequence_mask(features['len'], 5)
    score = tf.nn.softmax(tf.where(mask, score, tf.fill(tf.shape(score), -1e9)))
    with tf.variable_scope('rnn_2'):
        _, state = tf.nn.dynamic_rnn(VecAttGRUCell(4, 3), inputs=tf.concat([outputs, tf.expand_dims(score, -1)], -1), sequence_length=features['len'], dtype=tf.float32)
    inp = tf.layers.batch_normalization(tf.concat([state, t, state * t], -1), name='bn1', training=mode == 'train')
    dnn1 = tf.layers.dense(inp, 6, activation=None, name='f1', kernel_initializer=tf.glorot_uniform_initializer(seed=5))
    alphas = tf.get_variable('prelu_alpha', 6, initializer=tf.constant_initializer(0.1))
    dnn1 = tf.nn.relu(dnn1) + alphas * (dnn1 - tf.abs(dnn1)) * 0.5
    y_hat = tf.nn.softmax(tf.layers.dense(dnn1, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=6))) + 0.00000001
    predictions = {'y': y_hat, 'state': state}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    onehot = tf.stack([1 - labels, labels], -1)
    ctr_loss = -tf.reduce_mean(tf.log(y_hat) * onehot)
    click = tf.sigmoid(tf.reduce_sum(outputs[:, :-1] * h[:, 1:], -1))
    aux = -tf.reduce_mean(tf.reshape(tf.log(click), [-1]) * tf.reshape(tf.cast(mask, tf.float32)[:, 1:], [-1]))
    loss = ctr_loss + 0.5 * aux
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(learning_rate=0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, {'acc': tf.metrics.accuracy(labels, tf.round(y_hat[:, 1])), 'auc': tf.metrics.auc(labels, y_hat[:, 1])})


est = tf.estimator.Estimator(model_fn, 'dien')
est.train(lambda: input_fn(5))
rows = list(est.predict(input_fn))
print(json.dumps({'eval': {k: float(v) for k, v in est.evaluate(input_fn).items()}, 'y': [r['y'].tolist() for r in rows[:3]], 'state': rows[0]['state'].tolist()}))
