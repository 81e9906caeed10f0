"""QANet-like encoder blocks: separable 1-D convolutions, highway, trilinear attention, EMA of weights kept in the scaffold (TF 1.13)."""
import json
import math
import sys
import numpy as np
import tensorflow as tf
from functools import reduce
from operator import mul

initializer = lambda: tf.contrib.layers.variance_scaling_initializer(factor=1.0, mode='FAN_AVG', uniform=True, dtype=tf.float32, seed=13)
regularizer = tf.contrib.layers.l2_regularizer(scale=3e-7)


def conv(inputs, output_size, bias=None, activation=None, kernel_size=1, name='conv', reuse=None):
    with tf.variable_scope(name, reuse=reuse):
        shapes = inputs.shape.as_list()
        kernel_ = tf.get_variable('kernel_', [kernel_size, shapes[-1], output_size], dtype=tf.float32, regularizer=regularizer, initializer=initializer())
        outputs = tf.nn.conv1d(inputs, kernel_, 1, 'VALID')
        if bias:
            outputs += tf.get_variable('bias_', [1, 1, output_size], regularizer=regularizer, initializer=tf.zeros_initializer())
        return activation(outputs) if activation is not None else outputs


def depthwise_separable_convolution(inputs, kernel_size, num_filters, scope, reuse=None):
    with tf.variable_scope(scope, reuse=reuse):
        inputs = tf.expand_dims(inputs, 2)
        shapes = inputs.shape.as_list()
        depthwise_filter = tf.get_variable('depthwise_filter', (kernel_size, 1, shapes[-1], 1), dtype=tf.float32, regularizer=regularizer, initializer=initializer())
        pointwise_filter = tf.get_variable('pointwise_filter', (1, 1, shapes[-1], num_filters), dtype=tf.float32, regularizer=regularizer, initializer=initializer())
        outputs = tf.nn.separable_conv2d(inputs, depthwise_filter, pointwise_filter, strides=(1, 1, 1, 1), padding='SAME')
        return tf.squeeze(tf.nn.relu(outputs), 2)


def highway(x, size=None, activation=None, num_layers=2, scope='highway', reuse=None):
    with tf.variable_scope(scope, reuse):
        x = conv(x, size, name='input_projection', reuse=reuse)
        for i in range(num_layers):
            T = conv(x, size, bias=True, activation=tf.sigmoid, name='gate_%d' % i, reuse=reuse)
            H = conv(x, size, bias=True, activation=activation, name='activation_%d' % i, reuse=reuse)
            x = H * T + x * (1.0 - T)
        return x


def get_timing_signal_1d(length, channels):
    position = tf.to_float(tf.range(length))
    num_timescales = channels // 2
    increment = math.log(1e4) / (tf.to_float(num_timescales) - 1)
    inv_timescales = tf.exp(tf.to_float(tf.range(num_timescales)) * -increment)
    scaled_time = tf.expand_dims(position, 1) * tf.expand_dims(inv_timescales, 0)
    signal = tf.concat([tf.sin(scaled_time), tf.cos(scaled_time)], axis=1)
    return tf.reshape(tf.pad(signal, [[0, 0], [0, tf.mod(channels, 2)]]), [1, length, channels])


def encoder_block(x, mask, scope, reuse=None):
    with tf.variable_scope(scope, reuse=reuse):
        x = x + get_timing_signal_1d(tf.shape(x)[1], 8)
        for i in range(2):
            normed = tf.contrib.layers.layer_norm(x, scope='norm_%d' % i, reuse=reuse, begin_norm_axis=-1)
            x = x + depthwise_separable_convolution(normed, 3, 8, 'conv_%d' % i, reuse)
        logits = tf.matmul(conv(x, 8, name='q', reuse=reuse), conv(x, 8, name='k', reuse=reuse), transpose_b=True)
        logits += (1 - mask[:, None, :]) * -1e30
        return x + tf.matmul(tf.nn.softmax(logits), conv(x, 8, name='v', reuse=reuse))


def trilinear(c, q, scope='efficient_trilinear'):
    with tf.variable_scope(scope):
        w4c, w4q, w4mlu = [tf.get_variable(n, s, initializer=initializer(), regularizer=regularizer) for n, s in (('linear_kernel4arg0', [8, 1]), ('linear_kernel4arg1', [8, 1]), ('linear_kernel4mul', [1, 1, 8]))]
        part0 = tf.tile(tf.keras.backend.dot(c, w4c) if False else tf.tensordot(c, w4c, 1), [1, 1, q.shape[1].value])
        part1 = tf.tile(tf.transpose(tf.tensordot(q, w4q, [[2], [0]]), perm=(0, 2, 1)), [1, c.shape[1].value, 1])
        part2 = tf.matmul(c * w4mlu, tf.transpose(q, perm=(0, 2, 1)))
        res = part0 + part1 + part2
        return tf.nn.bias_add(tf.expand_dims(res, -1), tf.get_variable('linear_bias', [1], initializer=tf.zeros_initializer()))[..., 0]


def total_params():
    total = 0
    for variable in tf.trainable_variables():
        total += reduce(mul, [dim.value for dim in variable.get_shape()], 1)
    return total


def model_fn(features, labels, mode, params):
    c_mask, q_mask = tf.cast(features['c'] > 0, tf.float32), tf.cast(features['q'] > 0, tf.float32)
    table = tf.get_variable('word_mat', initializer=tf.constant(params['vectors'], dtype=tf.float32), trainable=False)
    c, q = [highway(tf.nn.embedding_lookup(table, features[n]), 8, tf.nn.relu, reuse=r) for n, r in (('c', None), ('q', True))]
    c, q = encoder_block(c, c_mask, 'Encoder'), encoder_block(q, q_mask, 'Encoder', reuse=True)
    S = trilinear(c, q)
    S_ = tf.nn.softmax(S + (1 - q_mask[:, None]) * -1e30)
    S_T = tf.transpose(tf.nn.softmax(S + (1 - c_mask[:, :, None]) * -1e30, axis=1), (0, 2, 1))
    c2q, q2c = tf.matmul(S_, q), tf.matmul(tf.matmul(S_, S_T), c)
    g = conv(tf.concat([c, c2q, c * c2q, c * q2c], -1), 8, name='fuse')
    start, end = [tf.squeeze(conv(g, 1, name=n), -1) + (1 - c_mask) * -1e30 for n in ('start', 'end')]
    outer = tf.matmul(tf.expand_dims(tf.nn.softmax(start), 2), tf.expand_dims(tf.nn.softmax(end), 1))
    outer = tf.matrix_band_part(outer, 0, 3)
    yp1, yp2 = tf.argmax(tf.reduce_max(outer, axis=2), axis=1), tf.argmax(tf.reduce_max(outer, axis=1), axis=1)
    if mode == 'infer':
        return tf.estimator.EstimatorSpec(mode, predictions={'yp1': yp1, 'yp2': yp2})
    losses = sum(tf.nn.softmax_cross_entropy_with_logits(logits=l, labels=tf.one_hot(y, 8)) for l, y in ((start, labels[:, 0]), (end, labels[:, 1])))
    loss = tf.reduce_mean(losses)
    loss += tf.contrib.layers.apply_regularization(regularizer, tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) and tf.trainable_variables())
    if mode == 'eval':
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'em': tf.metrics.mean(tf.to_float(tf.logical_and(tf.equal(yp1, labels[:, 0]), tf.equal(yp2, labels[:, 1]))))})
    gs = tf.train.get_or_create_global_step()
    lr = tf.minimum(.01, .01 / tf.log(9.) * tf.log(tf.cast(gs, tf.float32) + 1))
    opt = tf.train.AdamOptimizer(learning_rate=lr, beta1=0.8, beta2=0.999, epsilon=1e-7)
    grads = opt.compute_gradients(loss)
    gradients, variables = zip(*grads)
    capped_grads, _ = tf.clip_by_global_norm(gradients, 5.0)
    train_op = opt.apply_gradients(zip(capped_grads, variables), global_step=gs)
    var_ema = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([train_op]):
        ema_op = var_ema.apply(tf.trainable_variables())
    saver = tf.train.Saver(var_ema.variables_to_restore(tf.trainable_variables())) if False else None
    tf.add_to_collection('n_params', total_params())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=ema_op)


def input_fn(repeat=1):
    rng = np.random.RandomState(6)
    c, q = rng.randint(1, 20, [24, 8]), rng.randint(1, 20, [24, 3])
    start = rng.randint(0, 6, 24)
    c[np.arange(24), start] = q[:, 0]
    c[::5, 7] = 0
    y = np.stack([start, start + 1], 1)
    return tf.data.Dataset.from_tensor_slices(({'c': c, 'q': q}, y)).repeat(repeat).batch(6, drop_remainder=True)


if __name__ == '__main__':
    vectors = np.random.RandomState(1).randn(20, 6).astype('float32') * .5
    est = tf.estimator.Estimator(model_fn, sys.argv[1], params=dict(vectors=vectors))
    est.train(lambda: input_fn(6))
    out = {k: float(v) for k, v in est.evaluate(input_fn).items()}
    names = est.get_variable_names()
    average = est.get_variable_value('start/kernel_/ExponentialMovingAverage').ravel().tolist()
    print(json.dumps({'out': out, 'averages': len([n for n in names if 'ExponentialMovingAverage' in n]), 'average': average[:4], 'p': [int(p['yp1']) for p in est.predict(input_fn)][:6]}))
