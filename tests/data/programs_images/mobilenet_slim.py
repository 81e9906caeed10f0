"""MobileNet v1/v2 in slim: depth multiplier, arg_scopes, separable convolutions, end points, weight decay collections."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

from collections import namedtuple
import functools
import json
import sys

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim

Conv = namedtuple('Conv', ['kernel', 'stride', 'depth'])
DepthSepConv = namedtuple('DepthSepConv', ['kernel', 'stride', 'depth'])
_CONV_DEFS = [Conv(kernel=[3, 3], stride=2, depth=8), DepthSepConv(kernel=[3, 3], stride=1, depth=12), DepthSepConv(kernel=[3, 3], stride=2, depth=16)]


def mobilenet_v1_base(inputs, final_endpoint='Conv2d_2', min_depth=4, depth_multiplier=1.0, scope=None):
  depth = lambda d: max(int(d * depth_multiplier), min_depth)
  end_points = {}
  with tf.variable_scope(scope, 'MobilenetV1', [inputs]):
    with slim.arg_scope([slim.conv2d, slim.separable_conv2d], padding='SAME'):
      net = inputs
      for i, conv_def in enumerate(_CONV_DEFS):
        end_point_base = 'Conv2d_%d' % i
        if isinstance(conv_def, Conv):
          net = slim.conv2d(net, depth(conv_def.depth), conv_def.kernel, stride=conv_def.stride, normalizer_fn=slim.batch_norm, scope=end_point_base)
        elif isinstance(conv_def, DepthSepConv):
          net = slim.separable_conv2d(net, None, conv_def.kernel, depth_multiplier=1, stride=conv_def.stride, rate=1, normalizer_fn=slim.batch_norm, scope=end_point_base + '_depthwise')
          net = slim.conv2d(net, depth(conv_def.depth), [1, 1], stride=1, normalizer_fn=slim.batch_norm, scope=end_point_base + '_pointwise')
        end_points[end_point_base] = net
        if end_point_base == final_endpoint:
          return net, end_points
  raise ValueError('Unknown final endpoint %s' % final_endpoint)


def expanded_conv(net, expansion, out, stride, scope):
  with tf.variable_scope(scope):
    inner = slim.conv2d(net, net.get_shape().as_list()[-1] * expansion, [1, 1], normalizer_fn=slim.batch_norm, scope='expand')
    inner = slim.separable_conv2d(inner, None, [3, 3], 1, stride=stride, normalizer_fn=slim.batch_norm, padding='SAME', scope='depthwise')
    inner = slim.conv2d(inner, out, [1, 1], activation_fn=tf.identity, normalizer_fn=slim.batch_norm, scope='project')
    if stride == 1 and net.shape[-1].value == out:
      inner = net + inner
    return tf.identity(inner, name='output')


def mobilenet_arg_scope(is_training=True, weight_decay=0.00004, stddev=0.09, regularize_depthwise=False, batch_norm_decay=0.9):
  batch_norm_params = {'center': True, 'scale': True, 'decay': batch_norm_decay, 'epsilon': 0.001}
  if is_training is not None:
    batch_norm_params['is_training'] = is_training
  weights_init = tf.truncated_normal_initializer(stddev=stddev, seed=1)
  regularizer = tf.contrib.layers.l2_regularizer(weight_decay)
  depthwise_regularizer = regularizer if regularize_depthwise else None
  with slim.arg_scope([slim.conv2d, slim.separable_conv2d], weights_initializer=weights_init, activation_fn=tf.nn.relu6, normalizer_fn=slim.batch_norm):
    with slim.arg_scope([slim.batch_norm], **batch_norm_params):
      with slim.arg_scope([slim.conv2d], weights_regularizer=regularizer):
        with slim.arg_scope([slim.separable_conv2d], weights_regularizer=depthwise_regularizer) as sc:
          return sc


def model_fn(features, labels, mode, params):
  is_training = mode == tf.estimator.ModeKeys.TRAIN
  with slim.arg_scope(mobilenet_arg_scope(is_training)):
    net, end_points = mobilenet_v1_base(features, depth_multiplier=params['depth_multiplier'])
    with tf.variable_scope('MobilenetV2'):
      net = expanded_conv(net, 2, 8, 1, 'expanded_conv')
      net = expanded_conv(net, 2, 8, 1, 'expanded_conv_1')
  with tf.variable_scope('Logits'):
    net = tf.reduce_mean(net, [1, 2], keepdims=True, name='global_pool')
    end_points['global_pool'] = net
    net = slim.dropout(net, keep_prob=1.0, is_training=is_training, scope='Dropout_1b')
    logits = slim.conv2d(net, 3, [1, 1], activation_fn=None, normalizer_fn=None, scope='Conv2d_1c_1x1', weights_initializer=tf.truncated_normal_initializer(stddev=.3, seed=2))
    logits = tf.squeeze(logits, [1, 2], name='SpatialSqueeze')
  predictions = slim.softmax(logits, scope='Predictions')
  if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode, predictions=dict(probabilities=predictions, **{k: tf.shape(v) for k, v in {}.items()}))
  slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding(labels, 3))
  total_loss = slim.losses.get_total_loss()
  if mode == tf.estimator.ModeKeys.EVAL:
    names_to_values, names_to_updates = slim.metrics.aggregate_metric_map({
        'Accuracy': slim.metrics.streaming_accuracy(tf.argmax(logits, 1), labels), 'Recall_2': slim.metrics.streaming_recall_at_k(logits, labels, 2)})
    return tf.estimator.EstimatorSpec(mode, loss=total_loss, eval_metric_ops={k: (names_to_values[k], names_to_updates[k]) for k in names_to_values})
  for end_point in end_points:
    x = end_points[end_point]
    tf.summary.histogram('activations/' + end_point, x)
    tf.summary.scalar('sparsity/' + end_point, tf.nn.zero_fraction(x))
  for variable in slim.get_model_variables():
    tf.summary.histogram(variable.op.name, variable)
  learning_rate = tf.train.exponential_decay(0.02, tf.train.get_global_step(), 3, 0.94, staircase=True, name='exponential_decay_learning_rate')
  optimizer = tf.train.RMSPropOptimizer(learning_rate, decay=0.9, momentum=0.9, epsilon=1.0)
  variables_to_train = [v for v in tf.trainable_variables() if not v.op.name.startswith('MobilenetV1/Conv2d_0')]
  train_op = slim.learning.create_train_op(total_loss, optimizer, variables_to_train=variables_to_train)
  return tf.estimator.EstimatorSpec(mode, loss=total_loss, train_op=train_op)


def input_fn(repeat=1):
  rng = np.random.RandomState(0)
  y = np.arange(18) % 3
  x = rng.rand(18, 16, 16, 3).astype(np.float32)
  x[np.arange(18), :, :, y] += .5
  return tf.data.Dataset.from_tensor_slices((x, y.astype(np.int64))).repeat(repeat).batch(6)


def main(_):
  estimator = tf.estimator.Estimator(model_fn, model_dir=FLAGS.model_dir, params={'depth_multiplier': 0.75})
  estimator.train(functools.partial(input_fn, 4))
  result = estimator.evaluate(input_fn)
  rows = [p['probabilities'].tolist() for p in estimator.predict(input_fn)]
  print(json.dumps({'result': {k: float(v) for k, v in result.items()}, 'rows': rows[:2], 'names': sorted(n for n in estimator.get_variable_names() if 'RMS' not in n)}))


if __name__ == '__main__':
  tf.logging.set_verbosity(tf.logging.ERROR)
  tf.app.flags.DEFINE_string('model_dir', '/tmp/mobilenet', 'dir')
  FLAGS = tf.app.flags.FLAGS
  tf.app.run()
