"""The CNN of A Guide to TF Layers (TensorFlow 1.4): numpy_input_fn, LoggingTensorHook, softmax_tensor."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

# Imports
import json

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


def cnn_model_fn(features, labels, mode):
  """Model function for CNN."""
  # Input Layer
  input_layer = tf.reshape(features["x"], [-1, 12, 12, 1])

  # Convolutional Layer #1
  conv1 = tf.layers.conv2d(
      inputs=input_layer, filters=4, kernel_size=[5, 5], padding="same", activation=tf.nn.relu,
      kernel_initializer=tf.truncated_normal_initializer(stddev=0.2, seed=1))
  pool1 = tf.layers.max_pooling2d(inputs=conv1, pool_size=[2, 2], strides=2)
  conv2 = tf.layers.conv2d(
      inputs=pool1, filters=6, kernel_size=[5, 5], padding="same", activation=tf.nn.relu,
      kernel_initializer=tf.truncated_normal_initializer(stddev=0.2, seed=2))
  pool2 = tf.layers.max_pooling2d(inputs=conv2, pool_size=[2, 2], strides=2)

  # Dense Layer
  pool2_flat = tf.reshape(pool2, [-1, 3 * 3 * 6])
  dense = tf.layers.dense(inputs=pool2_flat, units=16, activation=tf.nn.relu,
                          kernel_initializer=tf.glorot_uniform_initializer(seed=3))
  dropout = tf.layers.dropout(inputs=dense, rate=0.0, training=mode == tf.estimator.ModeKeys.TRAIN)

  # Logits Layer
  logits = tf.layers.dense(inputs=dropout, units=10, kernel_initializer=tf.glorot_uniform_initializer(seed=4))

  predictions = {
      "classes": tf.argmax(input=logits, axis=1),
      # Add `softmax_tensor` to the graph. It is used for PREDICT and by the `logging_hook`.
      "probabilities": tf.nn.softmax(logits, name="softmax_tensor")
  }
  if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)

  # Calculate Loss (for both TRAIN and EVAL modes)
  onehot_labels = tf.one_hot(indices=tf.cast(labels, tf.int32), depth=10)
  loss = tf.losses.softmax_cross_entropy(onehot_labels=onehot_labels, logits=logits)

  if mode == tf.estimator.ModeKeys.TRAIN:
    optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.05)
    train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)

  eval_metric_ops = {
      "accuracy": tf.metrics.accuracy(labels=labels, predictions=predictions["classes"])}
  return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=eval_metric_ops)


class Collect(tf.train.SessionRunHook):
  def __init__(self):
    self.sums = []

  def before_run(self, run_context):
    graph = run_context.session.graph
    return tf.train.SessionRunArgs({"p": graph.get_tensor_by_name("softmax_tensor:0"), "k": "conv2d/kernel:0"})

  def after_run(self, run_context, run_values):
    self.sums.append(float(run_values.results["p"][:, 3].sum()))


def load(seed, number):
  random = np.random.RandomState(seed)
  labels = random.randint(0, 10, number)
  images = random.uniform(0, 0.3, (number, 12, 12))
  for image, label in zip(images, labels):
    image[label:label + 2, :] += 0.7
  return images.reshape(number, 144).astype(np.float32), np.asarray(labels, dtype=np.int32)


def main(unused_argv):
  train_data, train_labels = load(1, 60)
  eval_data, eval_labels = load(2, 30)
  mnist_classifier = tf.estimator.Estimator(model_fn=cnn_model_fn, model_dir="mnist_convnet_model")
  tensors_to_log = {"probabilities": "softmax_tensor"}
  logging_hook = tf.train.LoggingTensorHook(tensors=tensors_to_log, every_n_iter=10)
  collect = Collect()
  train_input_fn = tf.estimator.inputs.numpy_input_fn(
      x={"x": train_data}, y=train_labels, batch_size=20, num_epochs=None, shuffle=False)
  mnist_classifier.train(input_fn=train_input_fn, steps=30, hooks=[logging_hook, collect])
  eval_input_fn = tf.estimator.inputs.numpy_input_fn(x={"x": eval_data}, y=eval_labels, num_epochs=1, shuffle=False)
  eval_results = mnist_classifier.evaluate(input_fn=eval_input_fn)
  print(eval_results)
  print(json.dumps({"eval": {k: float(v) for k, v in eval_results.items()}, "sums": collect.sums[::10]}))


if __name__ == "__main__":
  tf.app.run()
