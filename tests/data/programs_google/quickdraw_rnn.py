"""Recurrent networks for drawing classification (TensorFlow 1.6 tutorial): SequenceExamples, conv1d, bidirectional cells."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import argparse
import functools
import json
import sys

import numpy as np
import tensorflow as tf


def write(path, seed):
  random = np.random.RandomState(seed)
  with tf.python_io.TFRecordWriter(path) as writer:
    for _ in range(24):
      kind, length = random.randint(3), random.randint(4, 9)
      ink = random.uniform(-0.1, 0.1, (length, 3)) + kind
      writer.write(tf.train.Example(features=tf.train.Features(feature={
          "class_index": tf.train.Feature(int64_list=tf.train.Int64List(value=[kind])),
          "ink": tf.train.Feature(float_list=tf.train.FloatList(value=ink.flatten())),
          "shape": tf.train.Feature(int64_list=tf.train.Int64List(value=ink.shape))})).SerializeToString())


def get_input_fn(mode, tfrecord_pattern, batch_size):
  def _parse_tfexample_fn(example_proto, mode):
    feature_to_type = {"ink": tf.VarLenFeature(dtype=tf.float32), "shape": tf.FixedLenFeature([2], dtype=tf.int64)}
    if mode != tf.estimator.ModeKeys.PREDICT:
      feature_to_type["class_index"] = tf.FixedLenFeature([1], dtype=tf.int64)
    parsed_features = tf.parse_single_example(example_proto, feature_to_type)
    labels = parsed_features.pop("class_index", None)
    parsed_features["ink"] = tf.sparse_tensor_to_dense(parsed_features["ink"])
    return parsed_features, labels

  def _input_fn():
    dataset = tf.data.TFRecordDataset.list_files(tfrecord_pattern)
    dataset = dataset.repeat(2 if mode == tf.estimator.ModeKeys.TRAIN else 1)
    dataset = dataset.interleave(tf.data.TFRecordDataset, cycle_length=1, block_length=1)
    dataset = dataset.map(functools.partial(_parse_tfexample_fn, mode=mode), num_parallel_calls=2)
    dataset = dataset.prefetch(100)
    dataset = dataset.padded_batch(batch_size, padded_shapes=dataset.output_shapes)
    features, labels = dataset.make_one_shot_iterator().get_next()
    return features, labels
  return _input_fn


def model_fn(features, labels, mode, params):
  shapes = features["shape"]
  lengths = tf.squeeze(tf.slice(shapes, begin=[0, 0], size=[params.batch_size, 1]))
  inks = tf.reshape(features["ink"], [params.batch_size, -1, 3])
  if labels is not None:
    labels = tf.squeeze(labels)
  with tf.variable_scope("model", initializer=tf.random_uniform_initializer(-0.4, 0.4, seed=8)):
    convolved = inks
    for i in range(len(params.num_conv)):
      convolved = tf.layers.conv1d(convolved, filters=params.num_conv[i], kernel_size=params.conv_len[i], activation=None, strides=1, padding="same", name="conv1d_%d" % i)
    cells_fw = [tf.nn.rnn_cell.BasicLSTMCell(params.num_nodes) for _ in range(params.num_layers)]
    cells_bw = [tf.nn.rnn_cell.BasicLSTMCell(params.num_nodes) for _ in range(params.num_layers)]
    outputs, _, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        cells_fw=cells_fw, cells_bw=cells_bw, inputs=convolved, sequence_length=lengths, dtype=tf.float32, scope="rnn_classification")
    mask = tf.tile(tf.expand_dims(tf.sequence_mask(lengths, tf.shape(outputs)[1]), 2), [1, 1, tf.shape(outputs)[2]])
    final_state = tf.reduce_sum(tf.where(mask, outputs, tf.zeros_like(outputs)), axis=1)
    logits = tf.layers.dense(final_state, params.num_classes)
  cross_entropy = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
  train_op = tf.contrib.layers.optimize_loss(
      loss=cross_entropy, global_step=tf.train.get_global_step(), learning_rate=params.learning_rate, optimizer="Adam",
      clip_gradients=params.gradient_clipping_norm, summaries=["learning_rate", "loss", "gradients", "gradient_norm"])
  predictions = tf.argmax(logits, axis=1)
  return tf.estimator.EstimatorSpec(
      mode=mode, predictions={"logits": logits, "predictions": predictions}, loss=cross_entropy, train_op=train_op,
      eval_metric_ops={"accuracy": tf.metrics.accuracy(labels, predictions)})


def main(unused_args):
  write("training.tfrecord", 1)
  write("eval.tfrecord", 2)
  model_params = tf.contrib.training.HParams(
      num_layers=2, num_nodes=5, batch_size=8, num_conv=json.loads(FLAGS.num_conv), conv_len=[3, 3], num_classes=3,
      learning_rate=0.02, gradient_clipping_norm=9.0)
  estimator = tf.estimator.Estimator(model_fn=model_fn, config=tf.estimator.RunConfig(model_dir="quickdraw", save_summary_steps=3), params=model_params)
  estimator.train(get_input_fn(tf.estimator.ModeKeys.TRAIN, "training.tfrecord", 8))
  result = estimator.evaluate(get_input_fn(tf.estimator.ModeKeys.EVAL, "eval.tfrecord", 8))
  print(json.dumps({"result": {k: float(v) for k, v in result.items()}, "names": sorted(estimator.get_variable_names())[:12]}))


if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.register("type", "bool", lambda v: v.lower() == "true")
  parser.add_argument("--num_conv", type=str, default="[4, 6]")
  FLAGS, unparsed = parser.parse_known_args()
  tf.app.run(main=main, argv=[sys.argv[0]] + unparsed)
