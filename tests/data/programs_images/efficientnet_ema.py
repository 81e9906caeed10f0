"""EfficientNet-like MBConv blocks with a class per block, moving averages of weights restored at evaluation, TPUEstimator."""
import argparse
import collections
import json
import math
import os
import re

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.compat.v1 import estimator as tf_estimator

GlobalParams = collections.namedtuple('GlobalParams', ['batch_norm_momentum', 'batch_norm_epsilon', 'width_coefficient', 'depth_divisor', 'num_classes', 'survival_prob'])
GlobalParams.__new__.__defaults__ = (None,) * len(GlobalParams._fields)
BlockArgs = collections.namedtuple('BlockArgs', ['kernel_size', 'num_repeat', 'input_filters', 'output_filters', 'expand_ratio', 'id_skip', 'strides', 'se_ratio'])


class BlockDecoder(object):
  def _decode_block_string(self, block_string):
    options = {}
    for op in block_string.split('_'):
      splits = re.split(r'(\d.*)', op)
      if len(splits) >= 2:
        key, value = splits[:2]
        options[key] = value
    return BlockArgs(kernel_size=int(options['k']), num_repeat=int(options['r']), input_filters=int(options['i']), output_filters=int(options['o']),
                     expand_ratio=int(options['e']), id_skip=('noskip' not in block_string), se_ratio=float(options['se']) if 'se' in options else None,
                     strides=[int(options['s'][0]), int(options['s'][1])])

  def decode(self, string_list):
    return [self._decode_block_string(s) for s in string_list]


def conv_kernel_initializer(shape, dtype=None, partition_info=None):
  kernel_height, kernel_width, _, out_filters = [int(s) for s in shape]
  fan_out = kernel_height * kernel_width * out_filters
  return tf.random_normal(shape, mean=0.0, stddev=np.sqrt(2.0 / fan_out), dtype=dtype, seed=4)


def round_filters(filters, global_params):
  divisor = global_params.depth_divisor
  filters *= global_params.width_coefficient
  new_filters = max(divisor, int(filters + divisor / 2) // divisor * divisor)
  if new_filters < 0.9 * filters:
    new_filters += divisor
  return int(new_filters)


def bn(x, training, gp):
  return tf.layers.batch_normalization(x, axis=-1, momentum=gp.batch_norm_momentum, epsilon=gp.batch_norm_epsilon, training=training, fused=True)


def drop_connect(inputs, is_training, survival_prob):
  if not is_training:
    return inputs
  random_tensor = survival_prob
  random_tensor += tf.random_uniform([tf.shape(inputs)[0], 1, 1, 1], dtype=inputs.dtype, seed=9)
  return tf.div(inputs, survival_prob) * tf.floor(random_tensor)


def mb_conv_block(inputs, args, gp, training):
  filters = args.input_filters * args.expand_ratio
  x = inputs
  with tf.variable_scope('expand'):
    if args.expand_ratio != 1:
      x = tf.nn.swish(bn(tf.layers.conv2d(x, filters, 1, use_bias=False, padding='same', kernel_initializer=conv_kernel_initializer), training, gp))
  kernel = tf.get_variable('depthwise_conv2d/depthwise_kernel', [args.kernel_size, args.kernel_size, filters, 1], initializer=conv_kernel_initializer)
  x = tf.nn.depthwise_conv2d(x, kernel, [1] + args.strides + [1], 'SAME')
  x = tf.nn.swish(bn(x, training, gp))
  if args.se_ratio is not None and 0 < args.se_ratio <= 1:
    with tf.variable_scope('se'):
      squeezed = tf.reduce_mean(x, [1, 2], keepdims=True)
      reduced = max(1, int(args.input_filters * args.se_ratio))
      squeezed = tf.layers.conv2d(tf.nn.swish(tf.layers.conv2d(squeezed, reduced, [1, 1], kernel_initializer=conv_kernel_initializer)), filters, [1, 1], kernel_initializer=conv_kernel_initializer)
      x = tf.sigmoid(squeezed) * x
  with tf.variable_scope('project'):
    x = bn(tf.layers.conv2d(x, args.output_filters, [1, 1], use_bias=False, kernel_initializer=conv_kernel_initializer), training, gp)
  if args.id_skip and all(s == 1 for s in args.strides) and args.input_filters == args.output_filters:
    if gp.survival_prob:
      x = drop_connect(x, training, gp.survival_prob)
    x = tf.add(x, inputs)
  return x


def efficientnet(images, training, gp):
  blocks = BlockDecoder().decode(['r1_k3_s11_e1_i8_o4_se0.25', 'r2_k3_s22_e2_i4_o8_se0.25'])
  with tf.variable_scope('efficientnet-b0'):
    x = tf.nn.swish(bn(tf.layers.conv2d(images, round_filters(8, gp), 3, 2, padding='same', use_bias=False, kernel_initializer=conv_kernel_initializer, name='stem'), training, gp))
    index = 0
    for args in blocks:
      args = args._replace(input_filters=round_filters(args.input_filters, gp), output_filters=round_filters(args.output_filters, gp))
      for repeat in range(args.num_repeat):
        with tf.variable_scope('blocks_%d' % index):
          x = mb_conv_block(x, args, gp, training)
        args = args._replace(input_filters=args.output_filters, strides=[1, 1])
        index += 1
    with tf.variable_scope('head'):
      return tf.layers.dense(tf.reduce_mean(x, [1, 2]), gp.num_classes, kernel_initializer=tf.random_uniform_initializer(-.3, .3, seed=1))


def get_ema_vars():
  ema_vars = tf.trainable_variables() + tf.get_collection('moving_vars')
  for v in tf.global_variables():
    if 'moving_mean' in v.name or 'moving_variance' in v.name:
      ema_vars.append(v)
  return list(dict((v.name, v) for v in ema_vars).values())


def model_fn(features, labels, mode, params):
  training = mode == tf_estimator.ModeKeys.TRAIN
  gp = GlobalParams(batch_norm_momentum=0.9, batch_norm_epsilon=1e-3, width_coefficient=1.0, depth_divisor=4, num_classes=3, survival_prob=0.8)
  logits = efficientnet(features, training, gp)
  if mode == tf_estimator.ModeKeys.PREDICT:
    return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, predictions={'classes': tf.argmax(logits, axis=1), 'probabilities': tf.nn.softmax(logits)})
  loss = tf.losses.softmax_cross_entropy(logits=logits, onehot_labels=tf.one_hot(labels, 3), label_smoothing=.1)
  loss += 1e-5 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'batch_normalization' not in v.name])
  global_step = tf.train.get_global_step()
  ema = tf.train.ExponentialMovingAverage(decay=0.8, num_updates=global_step)
  ema_vars = get_ema_vars()
  train_op, restore_vars_dict = None, None
  if training:
    lr = tf.train.exponential_decay(0.05, global_step, 4, 0.97, staircase=True)
    lr = tf.cond(global_step < 3, lambda: 0.05 * tf.cast(global_step, tf.float32) / 3.0, lambda: lr)
    optimizer = tf.train.RMSPropOptimizer(lr, 0.9, 0.9, 0.001)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
      train_op = optimizer.minimize(loss, global_step)
    with tf.control_dependencies([train_op]):
      train_op = ema.apply(ema_vars)
  else:
    restore_vars_dict = ema.variables_to_restore(ema_vars)

  def metric_fn(labels, logits):
    return {'top_1_accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, axis=1)), 'mean_logit': tf.metrics.mean(logits)}

  def scaffold_fn():
    saver = tf.train.Saver(restore_vars_dict)
    return tf.train.Scaffold(saver=saver)

  return tf_estimator.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op, eval_metrics=(metric_fn, [labels, logits]),
                                           scaffold_fn=scaffold_fn if mode == tf_estimator.ModeKeys.EVAL else None)


def input_fn(params):
  rng = np.random.RandomState(1)
  y = np.arange(24) % 3
  x = rng.randn(24, 8, 8, 3).astype(np.float32)
  x[np.arange(24), :, :, y] += 1.0
  return tf.data.Dataset.from_tensor_slices((x, y.astype(np.int32))).repeat().batch(params['batch_size'], drop_remainder=True)


if __name__ == '__main__':
  parser = argparse.ArgumentParser()
  parser.add_argument('model_dir')
  args = parser.parse_args()
  tf.disable_eager_execution()
  tf.logging.set_verbosity(tf.logging.ERROR)
  config = tf_estimator.tpu.RunConfig(model_dir=args.model_dir, save_checkpoints_steps=4, tf_random_seed=5, tpu_config=tf_estimator.tpu.TPUConfig(iterations_per_loop=4))
  est = tf_estimator.tpu.TPUEstimator(model_fn, use_tpu=False, config=config, train_batch_size=8, eval_batch_size=8, predict_batch_size=8)
  est.train(input_fn, max_steps=8)
  result = est.evaluate(input_fn, steps=3)
  averages = sorted(n for n in est.get_variable_names() if n.endswith('ExponentialMovingAverage'))
  print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'averages': len(averages), 'some': averages[:3]}))
