"""xDeepFM 的 CIN 层, params 用 HParams / namedtuple (TensorFlow 1.11)"""
import collections, json
import numpy as np, tensorflow as tf
from tensorflow.contrib import layers as contrib_layers, framework as contrib_framework

Config = collections.namedtuple('Config', 'fields dim cin lr')
rng = np.random.RandomState(5)
ids = np.stack([rng.randint(6 * f, 6 * f + 6, 64) for f in range(4)], 1).astype('int32')
label = ((ids[:, 0] % 6) * (ids[:, 2] % 6) > 6).astype('float32')[:, None]


def input_fn(n=1):
    return tf.data.Dataset.from_tensor_slices(({'ids': ids}, label)).repeat(n).batch(16)


def cin(x0, layers, dim):
    field, hidden, finals = x0.shape[1].value, [x0], []
    split0 = tf.split(x0, dim * [1], 2)
    for idx, size in enumerate(layers):
        split = tf.split(hidden[-1], dim * [1], 2)
        dot = tf.matmul(split0, split, transpose_b=True)
        dot = tf.reshape(dot, [dim, -1, field * int(hidden[-1].shape[1])])
        dot = tf.transpose(dot, perm=[1, 0, 2])
        filters = tf.get_variable('f_%d' % idx, shape=[1, field * int(hidden[-1].shape[1]), size], initializer=contrib_layers.variance_scaling_initializer(seed=idx))
        out = tf.nn.conv1d(dot, filters=filters, stride=1, padding='VALID')
        out = tf.nn.relu(tf.nn.bias_add(out, tf.get_variable('f_b%d' % idx, [size], initializer=tf.zeros_initializer())))
        hidden.append(tf.transpose(out, perm=[0, 2, 1]))
        finals.append(hidden[-1])
    return tf.reduce_sum(tf.concat(finals, axis=1), -1)


def model_fn(features, labels, mode, params):
    with contrib_framework.arg_scope([contrib_layers.fully_connected], weights_initializer=contrib_layers.xavier_initializer(seed=3), normalizer_fn=None):
        table = contrib_framework.model_variable('table', [24, params.dim], initializer=tf.random_normal_initializer(0, .3, seed=1))
        x = tf.nn.embedding_lookup(table, features['ids'])
        with tf.variable_scope('exfm_part'):
            exfm = cin(x, params.cin, params.dim)
        deep = contrib_layers.stack(contrib_layers.flatten(x), contrib_layers.fully_connected, [8, 4], scope='deep')
        logits = contrib_layers.fully_connected(tf.concat([exfm, deep], 1), 1, activation_fn=None)
    prob = tf.sigmoid(logits)
    if mode == 'infer':
        return tf.estimator.EstimatorSpec(mode, predictions={'prob': prob})
    loss = tf.losses.sigmoid_cross_entropy(labels, logits, label_smoothing=.1)
    train_op = contrib_layers.optimize_loss(loss, contrib_framework.get_global_step(), params.lr, 'Adagrad', clip_gradients=1.0, summaries=[]) if mode == 'train' else None
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={'auc': tf.metrics.auc(labels, prob)})


class Wrapped(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)


params = Wrapped(Config(4, 3, (5, 4), .2)._asdict())
est = tf.estimator.Estimator(lambda features, labels, mode, params: model_fn(features, labels, mode, Wrapped(params)), 'cin', params=params)
est.train(input_fn=lambda: input_fn(4))
print(json.dumps({'eval': {k: float(v) for k, v in est.evaluate(input_fn).items()}, 'prob': [p['prob'].tolist() for p in est.predict(input_fn)][:4],
                  'names': sorted(v for v in est.get_variable_names() if 'Adagrad' not in v)}, sort_keys=True))
