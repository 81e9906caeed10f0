"""Capsules with dynamic routing, margin and reconstruction losses; config by tf.app.flags; squash and masks (TF 1.3 to 1.8)."""
import json
import os
import sys
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_float('m_plus', 0.9, 'the parameter of m plus')
flags.DEFINE_float('m_minus', 0.1, 'the parameter of m minus')
flags.DEFINE_float('lambda_val', 0.5, 'down weight of the loss for absent digit classes')
flags.DEFINE_integer('iter_routing', 3, 'number of iterations in routing algorithm')
flags.DEFINE_boolean('mask_with_y', True, 'use the true label to mask out target capsule or not')
flags.DEFINE_string('logdir', 'logdir', 'logs directory')
cfg = tf.app.flags.FLAGS
epsilon = 1e-9


def squash(vector):
    vec_squared_norm = tf.reduce_sum(tf.square(vector), -2, keep_dims=True)
    scalar_factor = vec_squared_norm / (1 + vec_squared_norm) / tf.sqrt(vec_squared_norm + epsilon)
    return scalar_factor * vector


def routing(input, b_IJ, n_in, n_out):
    W = tf.get_variable('Weight', shape=(1, n_in, n_out, 4, 6), dtype=tf.float32, initializer=tf.random_normal_initializer(stddev=0.3, seed=1))
    batch = tf.shape(input)[0]
    input = tf.tile(input, [1, 1, n_out, 1, 1])
    u_hat = tf.matmul(tf.tile(W, [batch, 1, 1, 1, 1]), input, transpose_a=True)
    u_hat_stopped = tf.stop_gradient(u_hat, name='stop_gradient')
    for r_iter in range(cfg.iter_routing):
        with tf.variable_scope('iter_' + str(r_iter)):
            c_IJ = tf.nn.softmax(b_IJ, dim=2)
            if r_iter == cfg.iter_routing - 1:
                v_J = squash(tf.reduce_sum(tf.multiply(c_IJ, u_hat), axis=1, keep_dims=True))
            else:
                v_J = squash(tf.reduce_sum(tf.multiply(c_IJ, u_hat_stopped), axis=1, keep_dims=True))
                v_J_tiled = tf.tile(v_J, [1, n_in, 1, 1, 1])
                b_IJ += tf.matmul(u_hat_stopped, v_J_tiled, transpose_a=True)
    return v_J


def model_fn(features, labels, mode):
    X = features['x']
    with tf.variable_scope('Conv1_layer'):
        conv1 = tf.contrib.layers.conv2d(X, num_outputs=8, kernel_size=3, stride=1, padding='VALID', weights_initializer=tf.contrib.layers.xavier_initializer(seed=2))
    with tf.variable_scope('PrimaryCaps_layer'):
        capsules = tf.contrib.layers.conv2d(conv1, 2 * 4, 3, 2, padding='VALID', activation_fn=tf.nn.relu, weights_initializer=tf.contrib.layers.xavier_initializer(seed=3))
        n_in = int(np.prod(capsules.shape[1:3].as_list())) * 2
        caps1 = squash(tf.reshape(capsules, (-1, n_in, 4, 1)))
    with tf.variable_scope('DigitCaps_layer'):
        b_IJ = tf.zeros([tf.shape(X)[0], n_in, 3, 1, 1])
        caps2 = tf.squeeze(routing(tf.reshape(caps1, [-1, n_in, 1, 4, 1]), b_IJ, n_in, 3), axis=1)
    with tf.variable_scope('Masking'):
        v_length = tf.sqrt(tf.reduce_sum(tf.square(caps2), axis=2, keep_dims=True) + epsilon)
        argmax_idx = tf.to_int32(tf.argmax(v_length, axis=1))
        argmax_idx = tf.reshape(argmax_idx, shape=(-1,))
        Y = tf.one_hot(labels if labels is not None and cfg.mask_with_y else argmax_idx, depth=3, axis=1, dtype=tf.float32)
        masked_v = tf.multiply(tf.squeeze(caps2, 3), tf.reshape(Y, (-1, 3, 1)))
    with tf.variable_scope('Decoder'):
        fc1 = tf.contrib.layers.fully_connected(tf.contrib.layers.flatten(masked_v), num_outputs=10, weights_initializer=tf.contrib.layers.xavier_initializer(seed=4))
        decoded = tf.contrib.layers.fully_connected(fc1, num_outputs=64, activation_fn=tf.sigmoid, weights_initializer=tf.contrib.layers.xavier_initializer(seed=5))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'class': argmax_idx, 'length': tf.squeeze(v_length, [2, 3])})
    max_l = tf.square(tf.maximum(0., cfg.m_plus - v_length))
    max_r = tf.square(tf.maximum(0., v_length - cfg.m_minus))
    max_l, max_r = tf.reshape(max_l, shape=(-1, 3)), tf.reshape(max_r, shape=(-1, 3))
    L_c = Y * max_l + cfg.lambda_val * (1 - Y) * max_r
    margin_loss = tf.reduce_mean(tf.reduce_sum(L_c, axis=1))
    reconstruction_err = tf.reduce_mean(tf.square(decoded - tf.reshape(X, [-1, 64])))
    total_loss = margin_loss + 0.0005 * 784 * reconstruction_err
    acc = tf.metrics.accuracy(tf.to_int32(labels), argmax_idx)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=total_loss, eval_metric_ops={'acc': acc, 'reconstruction': tf.metrics.mean(reconstruction_err)})
    tf.summary.merge([tf.summary.scalar('train/margin_loss', margin_loss), tf.summary.image('reconstruction_img', tf.reshape(decoded, shape=(-1, 8, 8, 1)))])
    train_op = tf.train.AdamOptimizer(.005).minimize(total_loss, global_step=tf.contrib.framework.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=total_loss, train_op=train_op)


def data():
    rng = np.random.RandomState(9)
    y = (np.arange(24) % 3).astype(np.int32)
    x = rng.rand(24, 8, 8, 1).astype(np.float32) * .3
    for i in range(24):
        x[i, :, y[i] * 2 + 1] = 1
    return {'x': x}, y


def main(_):
    x, y = data()
    est = tf.estimator.Estimator(model_fn=model_fn, model_dir=cfg.logdir)
    est.train(tf.estimator.inputs.numpy_input_fn(x, y, batch_size=8, num_epochs=None, shuffle=False), steps=25)
    scores = est.evaluate(tf.estimator.inputs.numpy_input_fn(x, y, batch_size=8, shuffle=False))
    rows = list(est.predict(tf.estimator.inputs.numpy_input_fn(x, batch_size=8, shuffle=False)))
    print(json.dumps({'scores': {k: float(v) for k, v in scores.items()}, 'lengths': rows[0]['length'].tolist(), 'classes': [int(r['class']) for r in rows]}))


if __name__ == "__main__":
    tf.app.run()
