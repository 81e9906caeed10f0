"""Spatial transformer network: an affine grid predicted by a small net, bilinear sampling by gather_nd (TF 1.8)."""
from __future__ import division

import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow.python.training import session_run_hook

SIZE = 10


def images(count, seed):
    random = np.random.RandomState(seed)
    x = np.zeros([count, SIZE, SIZE, 1], np.float32)
    y = random.randint(0, 2, count).astype(np.int32)
    for row, kind in enumerate(y):
        top, left = random.randint(0, SIZE - 4, 2)
        patch = np.ones([4, 4]) if kind else np.eye(4)
        x[row, top:top + 4, left:left + 4, 0] = patch
    return x, y


def affine_grid(theta, size):
    line = tf.linspace(-1.0, 1.0, size)
    xs, ys = tf.meshgrid(line, line)
    points = tf.stack([tf.reshape(xs, [-1]), tf.reshape(ys, [-1]), tf.ones([size * size])])
    grid = tf.matmul(tf.reshape(theta, [-1, 2, 3]), tf.tile(tf.expand_dims(points, 0), [tf.shape(theta)[0], 1, 1]))
    return tf.unstack((grid + 1.0) * 0.5 * tf.to_float(size - 1), axis=1)


def bilinear(image, xs, ys):
    shape = tf.shape(image)
    batch = tf.tile(tf.expand_dims(tf.range(shape[0]), 1), [1, tf.shape(xs)[1]])

    def pixel(x, y):
        x = tf.clip_by_value(tf.to_int32(x), 0, SIZE - 1)
        y = tf.clip_by_value(tf.to_int32(y), 0, SIZE - 1)
        return tf.gather_nd(image, tf.stack([batch, y, x], 2))
    x0, y0 = tf.floor(xs), tf.floor(ys)
    wx, wy = tf.expand_dims(xs - x0, 2), tf.expand_dims(ys - y0, 2)
    top = pixel(x0, y0) * (1 - wx) + pixel(x0 + 1, y0) * wx
    bottom = pixel(x0, y0 + 1) * (1 - wx) + pixel(x0 + 1, y0 + 1) * wx
    return tf.reshape(top * (1 - wy) + bottom * wy, [-1, SIZE, SIZE, 1])


def model_fn(features, labels, mode, params):
    image = features['image']
    with tf.variable_scope('localization'):
        net = tf.layers.average_pooling2d(image, 2, 2)
        net = tf.layers.flatten(net)
        net = tf.layers.dense(net, 8, tf.nn.tanh, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
        theta = tf.layers.dense(net, 6, kernel_initializer=tf.random_normal_initializer(0, 0.02, seed=2),
                                bias_initializer=tf.constant_initializer([0.9, 0.05, 0, -0.05, 0.9, 0]), name='theta')
    seen = bilinear(image, *affine_grid(theta, SIZE))
    tf.summary.image('transformed', seen, max_outputs=2)
    net = tf.layers.conv2d(seen, 4, 3, activation=tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=3))
    net = tf.reduce_mean(net, [1, 2])
    logits = tf.layers.dense(net, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=4))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'theta': theta, 'seen': seen, 'class': tf.argmax(logits, 1)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    rate = tf.train.polynomial_decay(params['rate'], tf.train.get_global_step(), 60, 0.001)
    optimizer = tf.train.MomentumOptimizer(rate, 0.9, use_nesterov=True)
    groups = [('localization', 0.1), ('', 1.0)]
    pairs = []
    for gradient, variable in optimizer.compute_gradients(loss):
        factor = next(f for scope, f in groups if variable.op.name.startswith(scope))
        pairs.append((tf.clip_by_norm(gradient * factor, 1.0), variable))
    train_op = optimizer.apply_gradients(pairs, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={
        'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1)),
        'scale': tf.metrics.mean(theta[:, 0])})


class ThetaHook(session_run_hook.SessionRunHook):
    def begin(self):
        self.seen = []

    def before_run(self, run_context):
        return session_run_hook.SessionRunArgs({'t': 'localization/theta/BiasAdd:0'})

    def after_run(self, run_context, run_values):
        self.seen.append(float(run_values.results['t'].mean()))


def main():
    tf.logging.set_verbosity(tf.logging.WARN)
    x, y = images(48, 0)
    train_fn = tf.estimator.inputs.numpy_input_fn({'image': x}, y, batch_size=12, num_epochs=None, shuffle=False)
    test_fn = tf.estimator.inputs.numpy_input_fn({'image': x}, y, batch_size=16, num_epochs=1, shuffle=False)
    estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params={'rate': 0.05},
                                       config=tf.estimator.RunConfig(save_summary_steps=10, tf_random_seed=1))
    hook = ThetaHook()
    estimator.train(train_fn, steps=40, hooks=[hook])
    result = estimator.evaluate(test_fn)
    rows = list(estimator.predict(test_fn))
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'looks': len(hook.seen),
                      'first': hook.seen[0], 'last': hook.seen[-1],
                      'theta': rows[0]['theta'].tolist(), 'sum': float(rows[5]['seen'].sum()),
                      'names': sorted(estimator.get_variable_names())[:6]}))


if __name__ == '__main__':
    main()
