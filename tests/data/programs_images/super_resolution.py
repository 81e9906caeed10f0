"""Super resolution: sub-pixel convolution, PSNR and SSIM, charbonnier loss, a FinalOpsHook and predictions written as PNG (TF 1.9)."""
import argparse
import json
import os
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import nn_ops, nn_impl, image_ops


def prelu(x, name):
    with tf.variable_scope(name):
        alpha = tf.get_variable('alpha', x.get_shape()[-1:], initializer=tf.constant_initializer(0.1))
        return tf.nn.relu(x) + tf.multiply(alpha, (x - tf.abs(x))) * 0.5


def espcn(lr, scale):
    net = lr - 0.5
    for i, (n, k) in enumerate([(8, 5), (6, 3)]):
        w = tf.get_variable('w%d' % i, [k, k, net.shape[-1].value, n], initializer=tf.contrib.layers.xavier_initializer_conv2d(seed=i))
        b = tf.get_variable('b%d' % i, [n], initializer=tf.zeros_initializer)
        net = prelu(nn_ops.bias_add(nn_ops.conv2d(net, w, strides=[1, 1, 1, 1], padding='SAME'), b), 'prelu%d' % i)
    net = tf.layers.conv2d(net, scale ** 2 * 3, 3, padding='same', kernel_initializer=tf.contrib.layers.xavier_initializer_conv2d(seed=9))
    up = tf.depth_to_space(net, scale)
    return tf.add(up, tf.image.resize_bicubic(lr, [16, 16], align_corners=True), name='hr')


def model_fn(features, labels, mode, params):
    hr = espcn(features['lr'], params['scale'])
    clipped = tf.clip_by_value(hr, 0., 1.)
    if mode == tf.estimator.ModeKeys.PREDICT:
        saturated = tf.saturate_cast(tf.round(clipped * 255.), tf.uint8)
        return tf.estimator.EstimatorSpec(mode, {'png': tf.map_fn(tf.image.encode_png, saturated, dtype=tf.string), 'name': features['name'], 'hr': clipped})
    diff = hr - labels
    loss = tf.reduce_mean(tf.sqrt(diff * diff + 1e-6))
    psnr, ssim = tf.image.psnr(clipped, labels, max_val=1.0), tf.image.ssim(clipped, labels, max_val=1.0)
    if mode == tf.estimator.ModeKeys.EVAL:
        best = tf.get_local_variable('best', [], initializer=tf.zeros_initializer(), trainable=False) if hasattr(tf, 'get_local_variable') else None
        update = tf.assign(best, tf.maximum(best, tf.reduce_max(psnr)))
        with tf.control_dependencies([update]):
            value = tf.identity(best)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={'psnr': tf.metrics.mean(psnr), 'ssim': tf.metrics.mean(ssim), 'best': (best.read_value() if hasattr(best, 'read_value') else value, update)})
    tf.summary.scalar('psnr', tf.reduce_mean(psnr))
    tf.summary.image('pairs', tf.concat([labels, clipped], 2), max_outputs=1)
    rate = tf.train.cosine_decay(.01, tf.train.get_global_step(), 20, alpha=.1)
    opt = tf.train.AdamOptimizer(rate)
    gvs = [(tf.clip_by_value(g, -.1 / rate, .1 / rate), v) for g, v in opt.compute_gradients(loss)]
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=opt.apply_gradients(gvs, tf.train.get_or_create_global_step()))


def input_fn(repeat=1):
    def load(i):
        grid = tf.to_float(tf.range(16)) / 16.
        base = tf.sin(grid[:, None] * 6. + tf.to_float(i)) * tf.cos(grid[None] * 4. * (1. + tf.to_float(i) / 8.))
        hr = tf.stack([base, base * .5, tf.transpose(base)], -1) * .5 + .5
        lr = tf.image.resize_images(hr, [8, 8], method=tf.image.ResizeMethod.AREA)
        return {'lr': lr, 'name': tf.string_join(['image_', tf.as_string(i)])}, hr
    return tf.data.Dataset.range(8).map(load, 2).repeat(repeat).batch(4)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--checkpoint_dir', type=str, required=True)
    FLAGS, _ = parser.parse_known_args()
    est = tf.estimator.Estimator(model_fn, FLAGS.checkpoint_dir, params={'scale': 2})
    est.train(lambda: input_fn(10))
    result = est.evaluate(input_fn)
    means = {}
    for row in est.predict(input_fn):
        with open(os.path.join(FLAGS.checkpoint_dir, row['name'].decode() + '.png'), 'wb') as f:
            f.write(row['png'])
        means[row['name'].decode()] = float(row['hr'].mean())
    print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'means': means, 'files': len([n for n in os.listdir(FLAGS.checkpoint_dir) if n.endswith('.png')])}))
