# -*- coding: utf-8 -*-
"""FiBiNET: SENET + 双线性交互, tf.keras 层写在 model_fn 里 (TensorFlow 1.14)"""
import itertools
import json
import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.initializers import glorot_normal
from tensorflow.keras.layers import Layer, Dense

FIELD, DIM = 3, 4


class SENETLayer(Layer):
    def __init__(self, reduction_ratio=3, seed=1024, **kwargs):
        self.reduction_ratio, self.seed = reduction_ratio, seed
        super(SENETLayer, self).__init__(**kwargs)

    def build(self, input_shape):
        filed_size = int(input_shape[1])
        reduction_size = max(1, filed_size // self.reduction_ratio)
        self.W_1 = self.add_weight(shape=(filed_size, reduction_size), initializer=glorot_normal(seed=self.seed), name="W_1")
        self.W_2 = self.add_weight(shape=(reduction_size, filed_size), initializer=glorot_normal(seed=self.seed), name="W_2")
        super(SENETLayer, self).build(input_shape)

    def call(self, inputs, training=None, **kwargs):
        Z = tf.reduce_mean(inputs, axis=-1)
        A_1 = tf.nn.relu(tf.tensordot(Z, self.W_1, axes=(-1, 0)))
        A_2 = tf.nn.relu(tf.tensordot(A_1, self.W_2, axes=(-1, 0)))
        return tf.multiply(inputs, tf.expand_dims(A_2, axis=2))


class Bilinear(Layer):
    def build(self, input_shape):
        self.W = self.add_weight(name='bilinear_weight', shape=(DIM, DIM), initializer=tf.keras.initializers.Constant(0.2))
        super(Bilinear, self).build(input_shape)

    def call(self, inputs):
        rows = [inputs[:, i] for i in range(FIELD)]
        return tf.concat([tf.multiply(tf.tensordot(a, self.W, axes=(-1, 0)), b) for a, b in itertools.combinations(rows, 2)], -1)


rng = np.random.RandomState(8)
X = np.stack([rng.randint(5 * f, 5 * f + 5, 50) for f in range(FIELD)], 1)
Y = (X.sum(1) % 3 == 0).astype(np.float32)


def input_fn(n=1):
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).repeat(n).batch(10)


def model_fn(features, labels, mode):
    table = tf.compat.v1.get_variable('table', [15, DIM], initializer=tf.random_normal_initializer(stddev=.5, seed=2))
    e = tf.nn.embedding_lookup(table, features['x'])
    net = tf.concat([Bilinear(name='bi_1')(e), Bilinear(name='bi_2')(SENETLayer(2, 7, name='senet')(e))], -1)
    net = Dense(6, activation='relu', kernel_initializer=tf.keras.initializers.Constant(0.1), name='fc1')(net)
    logits = Dense(1, kernel_initializer=tf.keras.initializers.Constant(0.3), name='fc2')(net)[:, 0]
    p = tf.nn.sigmoid(logits)
    loss = None if labels is None else tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.RMSPropOptimizer(0.01, decay=.9, momentum=.1, centered=True).minimize(loss, global_step=tf.train.get_global_step())
    metrics = None if labels is None else {'auc': tf.metrics.auc(labels, p), 'mean_p': tf.metrics.mean(p)}
    return tf.estimator.EstimatorSpec(mode, {'p': p}, loss, train_op, metrics)


est = tf.estimator.Estimator(model_fn, 'fibinet')
est.train(lambda: input_fn(4))
print(json.dumps({'eval': {k: float(v) for k, v in est.evaluate(input_fn).items()}, 'p': [float(r['p']) for r in est.predict(input_fn)][:5],
                  'names': sorted(n for n in est.get_variable_names() if 'RMS' not in n)}))
