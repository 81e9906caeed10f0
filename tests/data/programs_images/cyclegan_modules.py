"""CycleGAN in small: two generators and two discriminators as objects with scopes, history pool, reuse by template, one train_op for all."""
import json
import sys
import numpy as np
import tensorflow as tf

REAL_LABEL = 0.9


def instance_norm(x):
    with tf.variable_scope('instance_norm'):
        depth = x.get_shape()[3]
        scale = tf.get_variable('scale', [depth], initializer=tf.random_normal_initializer(mean=1.0, stddev=0.02, seed=1))
        offset = tf.get_variable('offset', [depth], initializer=tf.constant_initializer(0.0))
        mean, variance = tf.nn.moments(x, axes=[1, 2], keep_dims=True)
        return scale * (x - mean) * tf.rsqrt(variance + 1e-5) + offset


def c7s1_k(x, k, reuse=False, activation='relu', name=None):
    with tf.variable_scope(name, reuse=reuse):
        weights = tf.get_variable('weights', [3, 3, x.get_shape()[3], k], initializer=tf.random_normal_initializer(stddev=.2, seed=k))
        padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], 'REFLECT')
        normalized = instance_norm(tf.nn.conv2d(padded, weights, strides=[1, 1, 1, 1], padding='VALID'))
        return {'relu': tf.nn.relu, 'tanh': tf.nn.tanh}[activation](normalized)


class Generator:
    def __init__(self, name):
        self.name, self.reuse = name, False

    def __call__(self, input):
        with tf.variable_scope(self.name):
            a = c7s1_k(input, 4, self.reuse, name='c7s1_4')
            b = a + c7s1_k(a, 4, self.reuse, name='R4')
            output = c7s1_k(b, 3, self.reuse, 'tanh', name='c7s1_3')
        self.reuse = True
        self.variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=self.name)
        return output


class Discriminator:
    def __init__(self, name):
        self.name = name
        self.net = tf.make_template(name, self._net)

    def _net(self, x):
        x = tf.nn.leaky_relu(tf.layers.conv2d(x, 4, 3, 2, kernel_initializer=tf.random_normal_initializer(stddev=.2, seed=3)), .2)
        return tf.layers.conv2d(x, 1, 2, kernel_initializer=tf.random_normal_initializer(stddev=.2, seed=4))

    def __call__(self, x):
        out = self.net(x)
        self.variables = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=self.name)
        return out


def model_fn(features, labels, mode, params):
    G, F, DX, DY = Generator('G'), Generator('F'), Discriminator('D_X'), Discriminator('D_Y')
    x = features['x']
    fake_y = G(x)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'y': tf.image.convert_image_dtype((fake_y + 1.0) / 2.0, tf.uint8)})
    y = features['y']
    fake_x = F(y)
    cycle = params['lambda'] * (tf.reduce_mean(tf.abs(F(fake_y) - x)) + tf.reduce_mean(tf.abs(G(fake_x) - y)))
    g_loss = tf.reduce_mean(tf.squared_difference(DY(fake_y), REAL_LABEL)) + cycle
    f_loss = tf.reduce_mean(tf.squared_difference(DX(fake_x), REAL_LABEL)) + cycle
    pool = [tf.stop_gradient(t) for t in (fake_x, fake_y)]
    dx_loss = (tf.reduce_mean(tf.squared_difference(DX(x), REAL_LABEL)) + tf.reduce_mean(tf.square(DX(pool[0])))) / 2
    dy_loss = (tf.reduce_mean(tf.squared_difference(DY(y), REAL_LABEL)) + tf.reduce_mean(tf.square(DY(pool[1])))) / 2
    total = g_loss + f_loss + dx_loss + dy_loss
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=total, eval_metric_ops={'cycle': tf.metrics.mean(cycle), 'd': tf.metrics.mean(dx_loss + dy_loss), 'cosine': tf.metrics.mean_relative_error(fake_x, x, tf.ones_like(x))})
    step = tf.train.get_global_step()
    rate = tf.where(tf.greater_equal(step, 6), tf.train.polynomial_decay(2e-3, step - 6, 6, 0., power=1.0), 2e-3)
    jobs = []
    for name, loss, net in (('G', g_loss, G), ('D_Y', dy_loss, DY), ('F', f_loss, F), ('D_X', dx_loss, DX)):
        opt = tf.train.AdamOptimizer(rate, beta1=.5, name='Adam_' + name)
        jobs.append((opt, opt.compute_gradients(loss, net.variables)))
        tf.summary.scalar('loss/' + name, loss)
    gathered = tf.tuple([g for _, gvs in jobs for g, _ in gvs])
    ops, at = [], 0
    for opt, gvs in jobs:
        ops.append(opt.apply_gradients([(gathered[at + i], v) for i, (_, v) in enumerate(gvs)]))
        at += len(gvs)
    with tf.control_dependencies(ops):
        train_op = tf.assign_add(step, 1, name='optimizers')
    return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op)


def input_fn():
    rng = np.random.RandomState(0)
    x, y = rng.rand(12, 8, 8, 3).astype(np.float32) * 2 - 1, rng.rand(12, 8, 8, 3).astype(np.float32)
    a, b = (tf.data.Dataset.from_tensor_slices(t).repeat().batch(2) for t in (x, y))
    return tf.data.Dataset.zip({'x': a, 'y': b}).make_one_shot_iterator().get_next()


if __name__ == '__main__':
    est = tf.estimator.Estimator(model_fn, sys.argv[1], params={'lambda': 5.})
    est.train(input_fn, max_steps=10)
    result = est.evaluate(input_fn, steps=4)
    rows = est.predict(input_fn)
    images = [float(next(rows)['y'].astype('f4').mean()) for _ in range(3)]
    rows.close()
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'images': [round(i, 1) for i in images], 'G': len([n for n in est.get_variable_names() if n.startswith('G/') and 'Adam' not in n])}))
