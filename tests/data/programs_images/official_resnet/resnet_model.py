"""Contains definitions for Residual Networks, version 2, with a custom getter for the dtype."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import tensorflow as tf

_BATCH_NORM_DECAY = 0.9
_BATCH_NORM_EPSILON = 1e-5
CASTABLE_TYPES = (tf.float16,)
ALLOWED_TYPES = (tf.float32,) + CASTABLE_TYPES


def batch_norm(inputs, training, data_format):
  return tf.layers.batch_normalization(
      inputs=inputs, axis=1 if data_format == "channels_first" else 3, momentum=_BATCH_NORM_DECAY, epsilon=_BATCH_NORM_EPSILON, center=True,
      scale=True, training=training, fused=True)


def fixed_padding(inputs, kernel_size, data_format):
  pad_total = kernel_size - 1
  pad_beg = pad_total // 2
  pad_end = pad_total - pad_beg
  return tf.pad(inputs, [[0, 0], [pad_beg, pad_end], [pad_beg, pad_end], [0, 0]])


def conv2d_fixed_padding(inputs, filters, kernel_size, strides, data_format):
  if strides > 1:
    inputs = fixed_padding(inputs, kernel_size, data_format)
  return tf.layers.conv2d(inputs=inputs, filters=filters, kernel_size=kernel_size, strides=strides, padding=("SAME" if strides == 1 else "VALID"),
                          use_bias=False, kernel_initializer=tf.variance_scaling_initializer(seed=filters), data_format=data_format)


def _building_block_v2(inputs, filters, training, projection_shortcut, strides, data_format):
  shortcut = inputs
  inputs = tf.nn.relu(batch_norm(inputs, training, data_format))
  if projection_shortcut is not None:
    shortcut = projection_shortcut(inputs)
  inputs = conv2d_fixed_padding(inputs, filters, 3, strides, data_format)
  inputs = tf.nn.relu(batch_norm(inputs, training, data_format))
  return conv2d_fixed_padding(inputs, filters, 3, 1, data_format) + shortcut


def block_layer(inputs, filters, blocks, strides, training, name, data_format):
  def projection_shortcut(inputs):
    return conv2d_fixed_padding(inputs, filters, 1, strides, data_format)
  inputs = _building_block_v2(inputs, filters, training, projection_shortcut, strides, data_format)
  for _ in range(1, blocks):
    inputs = _building_block_v2(inputs, filters, training, None, 1, data_format)
  return tf.identity(inputs, name)


class Model(object):
  """Base class for building the Resnet Model."""

  def __init__(self, num_classes, num_filters, block_sizes, block_strides, data_format=None, dtype=tf.float32):
    if not data_format:
      data_format = ("channels_first" if tf.test.is_built_with_cuda() else "channels_last")
    if dtype not in ALLOWED_TYPES:
      raise ValueError("dtype must be one of: {}".format(ALLOWED_TYPES))
    self.data_format, self.num_classes, self.num_filters = "channels_last", num_classes, num_filters
    self.block_sizes, self.block_strides, self.dtype = block_sizes, block_strides, dtype

  def _custom_dtype_getter(self, getter, name, shape=None, dtype=tf.float32, *args, **kwargs):
    if dtype in CASTABLE_TYPES:
      var = getter(name, shape, tf.float32, *args, **kwargs)
      return tf.cast(var, dtype=dtype, name=name + "_cast")
    return getter(name, shape, dtype, *args, **kwargs)

  def _model_variable_scope(self):
    return tf.variable_scope("resnet_model", custom_getter=self._custom_dtype_getter)

  def __call__(self, inputs, training):
    with self._model_variable_scope():
      inputs = conv2d_fixed_padding(inputs, self.num_filters, 3, 1, self.data_format)
      inputs = tf.identity(inputs, "initial_conv")
      for i, num_blocks in enumerate(self.block_sizes):
        inputs = block_layer(inputs, self.num_filters * (2 ** i), num_blocks, self.block_strides[i], training, "block_layer{}".format(i + 1), self.data_format)
      inputs = tf.nn.relu(batch_norm(inputs, training, self.data_format))
      inputs = tf.identity(tf.reduce_mean(inputs, [1, 2], keepdims=True), "final_reduce_mean")
      inputs = tf.squeeze(inputs, [1, 2])
      inputs = tf.layers.dense(inputs=inputs, units=self.num_classes, kernel_initializer=tf.variance_scaling_initializer(seed=1))
      return tf.identity(inputs, "final_dense")
