# -*- coding: utf-8 -*-
"""FFM, py_func 解析 field:feature:value (TensorFlow 1.6)"""
import json
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import variable_scope as vs
from tensorflow.python.framework import ops

F, N, K = 3, 15, 2
rng = np.random.RandomState(9)
LINES = []
for _ in range(40):
    ids = [5 * f + rng.randint(5) for f in range(F)]
    LINES.append('%d %s' % (int(ids[0] > ids[1] - 5), ' '.join('%d:%d:%.2f' % (f, i, rng.rand() + .5) for f, i in enumerate(ids))))


def parse(lines):
    label, ids, vals = [], [], []
    for line in lines:
        parts = line.decode('utf-8').split(' ')
        label.append(float(parts[0]))
        triples = [p.split(':') for p in parts[1:]]
        ids.append([int(t[1]) for t in triples])
        vals.append([float(t[2]) for t in triples])
    return np.array(label, np.float32), np.array(ids, np.int64), np.array(vals, np.float32)


def input_fn(epochs=1):
    ds = tf.data.Dataset.from_tensor_slices(LINES).repeat(epochs).batch(10)

    def _map(lines):
        label, ids, vals = tf.py_func(parse, [lines], [tf.float32, tf.int64, tf.float32], stateful=False)
        label.set_shape([None]), ids.set_shape([None, F]), vals.set_shape([None, F])
        return {'ids': ids, 'vals': vals}, label
    return ds.map(_map).make_one_shot_iterator().get_next()


def model_fn(features, labels, mode):
    with vs.variable_scope('ffm', dtype=tf.float32):
        w = vs.get_variable('w', [N, 1], initializer=tf.zeros_initializer())
        v = vs.get_variable('v', [N, F, K], initializer=tf.truncated_normal_initializer(stddev=0.4, seed=1))
    ids, vals = features['ids'], features['vals']
    logits = tf.reduce_sum(tf.gather(w, ids)[:, :, 0] * vals, 1)
    ev = tf.gather(v, ids)
    for i in range(F):
        for j in range(i + 1, F):
            logits += tf.reduce_sum(ev[:, i, j] * ev[:, j, i], -1) * vals[:, i] * vals[:, j]
    p = tf.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=p)
    loss = tf.losses.log_loss(labels, p, epsilon=1e-6) + 0.001 * sum(tf.nn.l2_loss(x) for x in ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES))
    opt = tf.train.AdadeltaOptimizer(1.0, rho=0.9, epsilon=1e-5)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=opt.minimize(loss, ops.get_default_graph().get_collection('global_step')[0]),
                                      eval_metric_ops={'auc': tf.metrics.auc(labels, p), 'fn': tf.metrics.false_negatives(labels, p > .5)})


est = tf.estimator.Estimator(model_fn)
est.train(lambda: input_fn(6))
print(json.dumps({'eval': {k: float(v) for k, v in est.evaluate(input_fn).items()}, 'p': [float(x) for x in est.predict(input_fn)][:6],
                  'v': est.get_variable_value('ffm/v')[0].tolist()}))
