"""Reading TFRecords through queues in an input_fn, and a model_fn with weights in collections (TensorFlow 1.4)."""
from __future__ import print_function
import json
import os

import numpy as np
import tensorflow as tf
slim_free_layers = tf.layers


def convert(name, seed):
  random = np.random.RandomState(seed)
  writer = tf.python_io.TFRecordWriter(name + '.tfrecords')
  for index in range(32):
    label = index % 4
    image = (random.rand(6, 6) * 60 + 45 * label).astype(np.uint8)
    example = tf.train.Example(features=tf.train.Features(feature={
        'height': tf.train.Feature(int64_list=tf.train.Int64List(value=[6])),
        'label': tf.train.Feature(int64_list=tf.train.Int64List(value=[int(label)])),
        'image_raw': tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tostring()]))}))
    writer.write(example.SerializeToString())
  writer.close()


def inputs(filename, batch_size, num_epochs):
  with tf.name_scope('input'):
    filename_queue = tf.train.string_input_producer([filename], num_epochs=num_epochs, shuffle=False)
    reader = tf.TFRecordReader()
    _, serialized_example = reader.read(filename_queue)
    features = tf.parse_single_example(serialized_example, features={
        'image_raw': tf.FixedLenFeature([], tf.string), 'label': tf.FixedLenFeature([], tf.int64)})
    image = tf.decode_raw(features['image_raw'], tf.uint8)
    image.set_shape([36])
    image = tf.cast(image, tf.float32) * (1. / 255) - 0.5
    label = tf.cast(features['label'], tf.int32)
    images, sparse_labels = tf.train.batch([image, label], batch_size=batch_size, num_threads=1, capacity=100, allow_smaller_final_batch=True)
    return {'image': images}, sparse_labels


def model_fn(features, labels, mode, params, config):
  with tf.name_scope('hidden1'):
    weights = tf.Variable(tf.truncated_normal([36, 8], stddev=0.2, seed=1), name='weights')
    biases = tf.Variable(tf.zeros([8]), name='biases')
    hidden1 = tf.nn.relu(tf.matmul(features['image'], weights) + biases)
    tf.add_to_collection('my_losses', tf.nn.l2_loss(weights) * 0.001)
  with tf.name_scope('softmax_linear'):
    weights = tf.Variable(tf.truncated_normal([8, 4], stddev=0.2, seed=2), name='weights')
    biases = tf.Variable(tf.zeros([4]), name='biases')
    logits = tf.nn.xw_plus_b(hidden1, weights, biases)
  cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.to_int64(labels), logits=logits, name='xentropy')
  loss = tf.add_n([tf.reduce_mean(cross, name='xentropy_mean')] + tf.get_collection('my_losses'))
  tf.summary.scalar('loss_here', loss)
  tf.summary.histogram('hidden', hidden1)
  step = tf.contrib.framework.get_or_create_global_step()
  ema = tf.train.ExponentialMovingAverage(0.9, step)
  with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.3).minimize(loss, global_step=step)]):
    train_op = ema.apply(tf.trainable_variables())
  correct = tf.nn.in_top_k(logits, labels, 1)
  return tf.estimator.EstimatorSpec(mode, {'logits': logits}, loss, train_op, eval_metric_ops={
      'right': tf.metrics.mean(tf.cast(correct, tf.float32)), 'per_class': tf.metrics.mean_per_class_accuracy(labels, tf.argmax(logits, 1), 4)})


def main(_):
  convert('train', 1)
  convert('validation', 2)
  config = tf.estimator.RunConfig().replace(model_dir='mnist', tf_random_seed=2)
  est = tf.estimator.Estimator(model_fn, params={'k': 1}, config=config)
  est.train(lambda: inputs('train.tfrecords', 8, 10))
  result = est.evaluate(lambda: inputs('validation.tfrecords', 8, 1))
  averages = [name for name in est.get_variable_names() if 'Average' in name]
  print(json.dumps({
      'right': float(result['right']), 'loss': float(result['loss']), 'step': int(result['global_step']),
      'per_class': np.asarray(result['per_class']).tolist(), 'averages': sorted(averages),
      'sum': float(est.get_variable_value('hidden1/weights').sum()), 'mean': float(est.get_variable_value(sorted(averages)[0]).mean())}))


if __name__ == '__main__':
  tf.app.run(main=main)
