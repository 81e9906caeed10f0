"""Runs a ResNet model on files in the binary format of CIFAR-10."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import json
import os

from absl import app as absl_app
from absl import flags
import numpy as np
import tensorflow as tf  # pylint: disable=g-bad-import-order

from official_resnet import resnet_model
from official_resnet.utils import flags_core, hooks_helper

HEIGHT, WIDTH, NUM_CHANNELS, NUM_CLASSES = 8, 8, 3, 4
_RECORD_BYTES = HEIGHT * WIDTH * NUM_CHANNELS + 1
NUM_IMAGES = {"train": 32, "validation": 16}


def write_data(data_dir):
  if not os.path.exists(data_dir):
    os.makedirs(data_dir)
  rng = np.random.RandomState(0)
  for name, count in (("data_batch_1.bin", 16), ("data_batch_2.bin", 16), ("test_batch.bin", 16)):
    with open(os.path.join(data_dir, name), "wb") as f:
      for i in range(count):
        label = i % NUM_CLASSES
        image = rng.randint(0, 120, [NUM_CHANNELS, HEIGHT, WIDTH])
        image[label % 3, :, label * 2:label * 2 + 2] += 100
        f.write(bytes(bytearray([label])) + image.astype(np.uint8).tobytes())


def parse_record(raw_record, is_training, dtype):
  record_vector = tf.decode_raw(raw_record, tf.uint8)
  label = tf.cast(record_vector[0], tf.int32)
  depth_major = tf.reshape(record_vector[1:_RECORD_BYTES], [NUM_CHANNELS, HEIGHT, WIDTH])
  image = tf.cast(tf.transpose(depth_major, [1, 2, 0]), tf.float32)
  if is_training:
    image = tf.image.resize_image_with_crop_or_pad(image, HEIGHT + 2, WIDTH + 2)
    image = image[1:-1, 1:-1]
  image = tf.image.per_image_standardization(image)
  return tf.cast(image, dtype), label


def input_fn(is_training, data_dir, batch_size, num_epochs=1, dtype=tf.float32):
  filenames = [os.path.join(data_dir, n) for n in (["data_batch_1.bin", "data_batch_2.bin"] if is_training else ["test_batch.bin"])]
  dataset = tf.data.FixedLengthRecordDataset(filenames, _RECORD_BYTES)
  dataset = dataset.prefetch(buffer_size=batch_size)
  dataset = dataset.repeat(num_epochs)
  dataset = dataset.apply(tf.contrib.data.map_and_batch(lambda value: parse_record(value, is_training, dtype), batch_size=batch_size,
                                                        num_parallel_batches=1, drop_remainder=False))
  return dataset.prefetch(buffer_size=tf.contrib.data.AUTOTUNE)


def learning_rate_with_decay(batch_size, batch_denom, num_images, boundary_epochs, decay_rates):
  initial_learning_rate = 0.1 * batch_size / batch_denom
  batches_per_epoch = num_images / batch_size
  boundaries = [int(batches_per_epoch * epoch) for epoch in boundary_epochs]
  vals = [initial_learning_rate * decay for decay in decay_rates]

  def learning_rate_fn(global_step):
    lr = tf.train.piecewise_constant(tf.cast(global_step, tf.int32), boundaries, vals)
    warmup_lr = initial_learning_rate * tf.cast(global_step, tf.float32) / tf.cast(2, tf.float32)
    return tf.cond(pred=global_step < 2, true_fn=lambda: warmup_lr, false_fn=lambda: lr)
  return learning_rate_fn


def cifar10_model_fn(features, labels, mode, params):
  features = tf.reshape(features, [-1, HEIGHT, WIDTH, NUM_CHANNELS])
  tf.summary.image("images", features, max_outputs=2)
  assert features.dtype == params["dtype"]
  model = resnet_model.Model(NUM_CLASSES, 4, [1, 2], [1, 2], dtype=params["dtype"])
  logits = tf.cast(model(features, mode == tf.estimator.ModeKeys.TRAIN), tf.float32)
  predictions = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
  if mode == tf.estimator.ModeKeys.PREDICT:
    return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, export_outputs={"predict": tf.estimator.export.PredictOutput(predictions)})
  cross_entropy = tf.losses.sparse_softmax_cross_entropy(logits=logits, labels=labels)
  tf.identity(cross_entropy, name="cross_entropy")
  tf.summary.scalar("cross_entropy", cross_entropy)
  l2_loss = params["weight_decay"] * tf.add_n([tf.nn.l2_loss(tf.cast(v, tf.float32)) for v in tf.trainable_variables() if "batch_normalization" not in v.name])
  loss = cross_entropy + l2_loss
  if mode == tf.estimator.ModeKeys.TRAIN:
    global_step = tf.train.get_or_create_global_step()
    learning_rate = params["learning_rate_fn"](global_step)
    tf.identity(learning_rate, name="learning_rate")
    tf.summary.scalar("learning_rate", learning_rate)
    optimizer = tf.train.MomentumOptimizer(learning_rate=learning_rate, momentum=0.9)
    if params["loss_scale"] != 1:
      scaled_grad_vars = optimizer.compute_gradients(loss * params["loss_scale"])
      unscaled_grad_vars = [(grad / params["loss_scale"], var) for grad, var in scaled_grad_vars]
      minimize_op = optimizer.apply_gradients(unscaled_grad_vars, global_step)
    else:
      minimize_op = optimizer.apply_gradients(optimizer.compute_gradients(loss), global_step)
    train_op = tf.group(minimize_op, tf.get_collection(tf.GraphKeys.UPDATE_OPS))
  else:
    train_op = None
  accuracy = tf.metrics.accuracy(labels, predictions["classes"])
  accuracy_top_2 = tf.metrics.mean(tf.nn.in_top_k(predictions=logits, targets=labels, k=2, name="top_2_op"))
  tf.identity(accuracy[1], name="train_accuracy")
  tf.summary.scalar("train_accuracy", accuracy[1])
  return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions, loss=loss, train_op=train_op,
                                    eval_metric_ops={"accuracy": accuracy, "accuracy_top_2": accuracy_top_2})


def run(flags_obj):
  write_data("cifar10_data")
  distribution_strategy = tf.contrib.distribute.OneDeviceStrategy("device:CPU:0")
  session_config = tf.ConfigProto(inter_op_parallelism_threads=0, intra_op_parallelism_threads=0, allow_soft_placement=True)
  run_config = tf.estimator.RunConfig(train_distribute=distribution_strategy, session_config=session_config, save_checkpoints_secs=60 * 60 * 24)
  classifier = tf.estimator.Estimator(model_fn=cifar10_model_fn, model_dir=flags_obj.model_dir, config=run_config, params={
      "batch_size": flags_obj.batch_size, "weight_decay": 2e-4, "dtype": flags_core.get_tf_dtype(flags_obj), "loss_scale": flags_core.get_loss_scale(flags_obj),
      "learning_rate_fn": learning_rate_with_decay(flags_obj.batch_size, 8, NUM_IMAGES["train"], [1, 2], [1, 0.1, 0.01])})
  train_hooks = hooks_helper.get_train_hooks(flags_obj.hooks, model_dir=flags_obj.model_dir, batch_size=flags_obj.batch_size)
  history = []
  for cycle_index in range(flags_obj.train_epochs):
    classifier.train(input_fn=lambda: input_fn(True, "cifar10_data", flags_obj.batch_size, 1), hooks=train_hooks, max_steps=100)
    eval_results = classifier.evaluate(input_fn=lambda: input_fn(False, "cifar10_data", flags_obj.batch_size))
    history.append({k: float(v) for k, v in eval_results.items()})
  counter = [h for h in train_hooks if isinstance(h, hooks_helper.ExamplesPerSecondHook)][0]

  def serving_input_receiver_fn():
    return tf.estimator.export.build_raw_serving_input_receiver_fn({"image": tf.placeholder(tf.float32, [1, HEIGHT, WIDTH, NUM_CHANNELS])})()
  def image_receiver():
    shape = [HEIGHT, WIDTH, NUM_CHANNELS]
    return tf.estimator.export.build_raw_serving_input_receiver_fn(tf.placeholder(tf.float32, [None] + shape), default_batch_size=None)()
  classifier.export_savedmodel(os.path.join(flags_obj.model_dir, "export"), lambda: tf.estimator.export.TensorServingInputReceiver(
      tf.placeholder(tf.float32, [1, HEIGHT, WIDTH, NUM_CHANNELS], name="input_tensor"), tf.get_default_graph().get_tensor_by_name("input_tensor:0")))
  return {"history": history, "speeds": [int(s) for s in counter.current_examples_per_sec_list], "variables": len(classifier.get_variable_names())}


def main(_):
  print(json.dumps(run(flags.FLAGS)))


if __name__ == "__main__":
  tf.logging.set_verbosity(tf.logging.ERROR)
  flags_core.define_base()
  flags_core.set_defaults(train_epochs=2, batch_size=8)
  absl_app.run(main)
