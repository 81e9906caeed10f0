"""Train a small ResNet with TPUEstimator: host_call summaries, label smoothing, JPEG TFRecords, transposed input."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import functools
import json
import os
import time

from absl import flags
import absl.logging as _logging  # pylint: disable=unused-import
import numpy as np
import tensorflow as tf
from tensorflow.contrib import summary
from tensorflow.contrib.tpu.python.tpu import bfloat16
from tensorflow.contrib.tpu.python.tpu import tpu_config
from tensorflow.contrib.tpu.python.tpu import tpu_estimator
from tensorflow.contrib.tpu.python.tpu import tpu_optimizer
from tensorflow.contrib.training.python.training import evaluation
from tensorflow.python.estimator import estimator

FLAGS = flags.FLAGS
flags.DEFINE_bool('use_tpu', default=False, help=('Use TPU to execute the model for training and evaluation.'))
flags.DEFINE_string('model_dir', default=None, help='The directory where the model and training/evaluation summaries are stored.')
flags.DEFINE_string('precision', default='float32', help='float32 or bfloat16')
flags.DEFINE_integer('train_steps', default=8, help='steps')
flags.DEFINE_bool('transpose_input', default=True, help='transpose')
flags.DEFINE_bool('skip_host_call', default=False, help='skip')
LR_SCHEDULE = [(1.0, 1), (0.1, 3), (0.01, 6)]
SIZE, CLASSES = 12, 5


def learning_rate_schedule(current_epoch):
  decay_rate = 0.1 * LR_SCHEDULE[0][0] * current_epoch / LR_SCHEDULE[0][1]
  for mult, start_epoch in LR_SCHEDULE:
    decay_rate = tf.where(current_epoch < start_epoch, decay_rate, 0.1 * mult)
  return decay_rate


def batch_norm_relu(inputs, is_training, relu=True, init_zero=False, data_format='channels_last'):
  gamma_initializer = tf.zeros_initializer() if init_zero else tf.ones_initializer()
  inputs = tf.layers.batch_normalization(inputs=inputs, axis=3, momentum=0.9, epsilon=1e-5, center=True, scale=True, training=is_training, fused=True, gamma_initializer=gamma_initializer)
  return tf.nn.relu(inputs) if relu else inputs


def resnet(inputs, is_training):
  conv = functools.partial(tf.layers.conv2d, padding='SAME', use_bias=False, kernel_initializer=tf.variance_scaling_initializer(seed=7))
  x = batch_norm_relu(conv(inputs, 6, 3), is_training)
  shortcut = x
  x = batch_norm_relu(conv(x, 6, 3), is_training)
  x = batch_norm_relu(conv(x, 6, 3), is_training, relu=False, init_zero=True)
  x = tf.nn.relu(x + shortcut)
  x = tf.layers.average_pooling2d(inputs=x, pool_size=SIZE, strides=1, padding='VALID', data_format='channels_last')
  x = tf.identity(x, 'final_avg_pool')
  return tf.layers.dense(inputs=tf.reshape(x, [-1, 6]), units=CLASSES, kernel_initializer=tf.random_normal_initializer(stddev=.01, seed=3))


def resnet_model_fn(features, labels, mode, params):
  if isinstance(features, dict):
    features = features['feature']
  if params['transpose_input']:
    features = tf.transpose(features, [3, 0, 1, 2])
  features -= tf.constant([120.0, 110.0, 100.0], shape=[1, 1, 3], dtype=features.dtype)
  features /= tf.constant([60.0, 60.0, 60.0], shape=[1, 1, 3], dtype=features.dtype)
  is_training = mode == tf.estimator.ModeKeys.TRAIN
  if params['precision'] == 'bfloat16':
    with bfloat16.bfloat16_scope():
      logits = resnet(features, is_training)
    logits = tf.cast(logits, tf.float32)
  else:
    logits = resnet(features, is_training)
  batch_size = params['batch_size']   # pylint: disable=unused-variable
  one_hot_labels = tf.one_hot(labels, CLASSES)
  cross_entropy = tf.losses.softmax_cross_entropy(logits=logits, onehot_labels=one_hot_labels, label_smoothing=0.1)
  loss = cross_entropy + 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'batch_normalization' not in v.name])
  host_call = None
  if is_training:
    global_step = tf.train.get_global_step()
    steps_per_epoch = 16 / params['batch_size']
    current_epoch = tf.cast(global_step, tf.float32) / steps_per_epoch
    learning_rate = learning_rate_schedule(current_epoch)
    optimizer = tf.train.MomentumOptimizer(learning_rate=learning_rate, momentum=0.9, use_nesterov=True)
    if FLAGS.use_tpu:
      optimizer = tpu_optimizer.CrossShardOptimizer(optimizer)
    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
      train_op = optimizer.minimize(loss, global_step)
    if not FLAGS.skip_host_call:
      def host_call_fn(gs, loss, lr, ce):
        gs = gs[0]
        with summary.create_file_writer(FLAGS.model_dir, max_queue=4).as_default():
          with summary.always_record_summaries():
            summary.scalar('loss', loss[0], step=gs)
            summary.scalar('learning_rate', lr[0], step=gs)
            summary.scalar('current_epoch', ce[0], step=gs)
            return summary.all_summary_ops()
      host_call = (host_call_fn, [tf.reshape(t, [1]) for t in (global_step, loss, learning_rate, current_epoch)])
  else:
    train_op = None
  eval_metrics = None
  if mode == tf.estimator.ModeKeys.EVAL:
    def metric_fn(labels, logits):
      predictions = tf.argmax(logits, axis=1)
      top_1_accuracy = tf.metrics.accuracy(labels, predictions)
      in_top_2 = tf.cast(tf.nn.in_top_k(logits, labels, 2), tf.float32)
      return {'top_1_accuracy': top_1_accuracy, 'top_2_accuracy': tf.metrics.mean(in_top_2)}
    eval_metrics = (metric_fn, [labels, logits])
  return tpu_estimator.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op, host_call=host_call, eval_metrics=eval_metrics)


def write_images(data_dir):
  tf.gfile.MakeDirs(data_dir)
  rng = np.random.RandomState(3)
  image = tf.placeholder(tf.uint8, [SIZE + 4, SIZE + 4, 3])
  encoded = tf.image.encode_png(image)
  with tf.Session() as sess:
    for part in range(2):
      with tf.python_io.TFRecordWriter(os.path.join(data_dir, 'train-%05d-of-00002' % part)) as w:
        for i in range(8):
          label = (i + part) % CLASSES
          pixels = rng.randint(0, 100, [SIZE + 4, SIZE + 4, 3]) + 30 * label
          w.write(tf.train.Example(features=tf.train.Features(feature={
              'image/encoded': tf.train.Feature(bytes_list=tf.train.BytesList(value=[sess.run(encoded, {image: pixels.astype(np.uint8)})])),
              'image/class/label': tf.train.Feature(int64_list=tf.train.Int64List(value=[label + 1]))})).SerializeToString())


class ImageNetInput(object):
  def __init__(self, is_training, data_dir, transpose_input=True):
    self.is_training, self.data_dir, self.transpose_input = is_training, data_dir, transpose_input

  def dataset_parser(self, value):
    keys_to_features = {'image/encoded': tf.FixedLenFeature((), tf.string, ''), 'image/format': tf.FixedLenFeature((), tf.string, 'jpeg'),
                        'image/class/label': tf.FixedLenFeature([], tf.int64, -1)}
    parsed = tf.parse_single_example(value, keys_to_features)
    image = tf.image.decode_image(tf.reshape(parsed['image/encoded'], shape=[]), channels=3)
    image = tf.image.convert_image_dtype(tf.reshape(image, [SIZE + 4, SIZE + 4, 3]), dtype=tf.float32) * 255.
    image = tf.image.crop_to_bounding_box(image, 2, 2, SIZE, SIZE)
    image = tf.image.flip_left_right(image) if self.is_training else image
    label = tf.cast(tf.reshape(parsed['image/class/label'], shape=[]), dtype=tf.int32) - 1
    return image, label

  def set_shapes(self, batch_size, images, labels):
    if self.transpose_input:
      images.set_shape(images.get_shape().merge_with(tf.TensorShape([None, None, None, batch_size])))
      labels.set_shape(labels.get_shape().merge_with(tf.TensorShape([batch_size])))
    return images, labels

  def input_fn(self, params):
    batch_size = params['batch_size']
    dataset = tf.data.Dataset.list_files(os.path.join(self.data_dir, 'train-*'), shuffle=False)
    if self.is_training:
      dataset = dataset.repeat()
    dataset = dataset.apply(tf.contrib.data.parallel_interleave(lambda f: tf.data.TFRecordDataset(f, buffer_size=8 * 1024 * 1024), cycle_length=2, sloppy=False))
    dataset = dataset.apply(tf.contrib.data.map_and_batch(self.dataset_parser, batch_size=batch_size, num_parallel_batches=2, drop_remainder=True))
    if self.transpose_input:
      dataset = dataset.map(lambda images, labels: (tf.transpose(images, [1, 2, 3, 0]), labels), num_parallel_calls=2)
    dataset = dataset.map(functools.partial(self.set_shapes, batch_size))
    return dataset.prefetch(tf.contrib.data.AUTOTUNE)


def main(unused_argv):
  config = tpu_config.RunConfig(
      master=None, evaluation_master=None, model_dir=FLAGS.model_dir, save_checkpoints_steps=max(4, 2),
      tpu_config=tpu_config.TPUConfig(iterations_per_loop=4, num_shards=None, per_host_input_for_training=tpu_config.InputPipelineConfig.PER_HOST_V2))
  resnet_classifier = tpu_estimator.TPUEstimator(use_tpu=FLAGS.use_tpu, model_fn=resnet_model_fn, config=config, train_batch_size=4, eval_batch_size=8,
                                                 params=dict(transpose_input=FLAGS.transpose_input, precision=FLAGS.precision))
  assert isinstance(resnet_classifier, estimator.Estimator)
  write_images('imagenet')
  train, test = [ImageNetInput(is_training, 'imagenet', FLAGS.transpose_input) for is_training in (True, False)]
  resnet_classifier.train(input_fn=train.input_fn, max_steps=FLAGS.train_steps)
  found = []
  for ckpt in evaluation.checkpoints_iterator(FLAGS.model_dir, timeout=0.1):
    found.append({k: float(v) for k, v in resnet_classifier.evaluate(input_fn=test.input_fn, steps=2, checkpoint_path=ckpt).items()})
  writers = len([n for n in os.listdir(FLAGS.model_dir) if 'tfevents' in n])
  tags = {}
  for name in sorted(os.listdir(FLAGS.model_dir)):
    if 'tfevents' in name:
      for event in tf.train.summary_iterator(os.path.join(FLAGS.model_dir, name)):
        for value in event.summary.value:
          tags.setdefault(value.tag, []).append(event.step)
  print(json.dumps({'found': found, 'epochs': sorted(tags.get('current_epoch', []))}))


if __name__ == '__main__':
  tf.logging.set_verbosity(tf.logging.ERROR)
  tf.app.run()
