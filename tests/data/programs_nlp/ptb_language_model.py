"""PTB language model: state kept in variables between batches, decayed rate assigned by a hook (TF 1.5)."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import collections
import json
import time

import numpy as np
import tensorflow as tf

flags = tf.flags
logging = tf.logging
flags.DEFINE_string("model", "tiny", "A type of model. Possible options are: tiny, small.")
flags.DEFINE_string("save_path", None, "Model output directory.")
flags.DEFINE_bool("use_fp16", False, "Train using 16-bit floats instead of 32bit floats")
FLAGS = flags.FLAGS
BASIC, BLOCK = "basic", "block"


def data_type():
  return tf.float16 if FLAGS.use_fp16 else tf.float32


class TinyConfig(object):
  init_scale = 0.3
  learning_rate = 1.0
  max_grad_norm = 5
  num_layers = 2
  num_steps = 4
  hidden_size = 6
  max_epoch = 1
  max_max_epoch = 3
  keep_prob = 1.0
  lr_decay = 0.5
  batch_size = 3
  vocab_size = 12
  rnn_mode = BLOCK


class SmallConfig(TinyConfig):
  hidden_size = 8
  rnn_mode = BASIC


def ptb_producer(raw_data, batch_size, num_steps, name=None):
  with tf.name_scope(name, "PTBProducer", [raw_data, batch_size, num_steps]):
    raw_data = tf.convert_to_tensor(raw_data, name="raw_data", dtype=tf.int32)
    data_len = tf.size(raw_data)
    batch_len = data_len // batch_size
    data = tf.reshape(raw_data[0: batch_size * batch_len], [batch_size, batch_len])
    epoch_size = (batch_len - 1) // num_steps
    assertion = tf.assert_positive(epoch_size, message="epoch_size == 0, decrease batch_size or num_steps")
    with tf.control_dependencies([assertion]):
      epoch_size = tf.identity(epoch_size, name="epoch_size")
    i = tf.train.range_input_producer(epoch_size, shuffle=False).dequeue()
    x = tf.strided_slice(data, [0, i * num_steps], [batch_size, (i + 1) * num_steps])
    x.set_shape([batch_size, num_steps])
    y = tf.strided_slice(data, [0, i * num_steps + 1], [batch_size, (i + 1) * num_steps + 1])
    y.set_shape([batch_size, num_steps])
    return x, y


def raw_data():
  words = ("the cat sat on the mat <eos> the dog ran to the cat <eos> a dog sat <eos> " * 5).split()
  counter = collections.Counter(words)
  count_pairs = sorted(counter.items(), key=lambda x: (-x[1], x[0]))
  ids, _ = list(zip(*count_pairs))
  word_to_id = dict(zip(ids, range(len(ids))))
  return [word_to_id[word] for word in words]


class RateHook(tf.train.SessionRunHook):
  """Assigns the learning rate of each epoch."""

  def __init__(self, config, per_epoch):
    self.config, self.per_epoch, self.rates = config, per_epoch, []

  def begin(self):
    self._step = tf.train.get_global_step()
    self._lr = [v for v in tf.global_variables() if v.op.name == "lr"][0]
    self._new_lr = tf.placeholder(tf.float32, shape=[], name="new_learning_rate")
    self._lr_update = tf.assign(self._lr, self._new_lr)

  def before_run(self, run_context):
    step = run_context.session.run(self._step)
    if step % self.per_epoch == 0:
      decay = self.config.lr_decay ** max(step // self.per_epoch + 1 - self.config.max_epoch, 0.0)
      run_context.session.run(self._lr_update, feed_dict={self._new_lr: self.config.learning_rate * decay})
    return tf.train.SessionRunArgs(self._lr)

  def after_run(self, run_context, run_values):
    self.rates.append(float(run_values.results))


def model_fn(features, labels, mode, params):
  config = params["config"]
  is_training = mode == tf.estimator.ModeKeys.TRAIN
  with tf.variable_scope("Model", reuse=None, initializer=tf.random_uniform_initializer(-config.init_scale, config.init_scale, seed=9)):
    with tf.device("/cpu:0"):
      embedding = tf.get_variable("embedding", [config.vocab_size, config.hidden_size], dtype=data_type())
      inputs = tf.nn.embedding_lookup(embedding, features)

    def make_cell():
      if config.rnn_mode == BASIC:
        cell = tf.contrib.rnn.BasicLSTMCell(config.hidden_size, forget_bias=0.0, state_is_tuple=True, reuse=not is_training)
      else:
        cell = tf.contrib.rnn.LSTMBlockCell(config.hidden_size, forget_bias=0.0)
      return tf.contrib.rnn.DropoutWrapper(cell, output_keep_prob=config.keep_prob) if is_training and config.keep_prob < 1 else cell

    cell = tf.contrib.rnn.MultiRNNCell([make_cell() for _ in range(config.num_layers)], state_is_tuple=True)
    with tf.variable_scope("carried"):
      kept = [[tf.get_variable("s_%d_%d" % (i, j), [config.batch_size, config.hidden_size], initializer=tf.zeros_initializer(), trainable=False,
                               collections=[tf.GraphKeys.LOCAL_VARIABLES]) for j in range(2)] for i in range(config.num_layers)]
    state = tuple(tf.contrib.rnn.LSTMStateTuple(c, h) for c, h in kept)
    outputs = []
    with tf.variable_scope("RNN"):
      for time_step in range(config.num_steps):
        if time_step > 0:
          tf.get_variable_scope().reuse_variables()
        (cell_output, state) = cell(inputs[:, time_step, :], state)
        outputs.append(cell_output)
    output = tf.reshape(tf.concat(outputs, 1), [-1, config.hidden_size])
    softmax_w = tf.get_variable("softmax_w", [config.hidden_size, config.vocab_size], dtype=data_type())
    softmax_b = tf.get_variable("softmax_b", [config.vocab_size], dtype=data_type())
    logits = tf.reshape(tf.nn.xw_plus_b(output, softmax_w, softmax_b), [config.batch_size, config.num_steps, config.vocab_size])
    loss = tf.contrib.seq2seq.sequence_loss(logits, labels, tf.ones([config.batch_size, config.num_steps], dtype=data_type()),
                                            average_across_timesteps=False, average_across_batch=True)
    cost = tf.reduce_sum(loss)
  keep_state = [tf.assign(v, new) for pair, s in zip(kept, state) for v, new in zip(pair, (s.c, s.h))]
  if mode == tf.estimator.ModeKeys.EVAL:
    with tf.control_dependencies(keep_state):
      mean, update = tf.metrics.mean(cost / config.num_steps)
    return tf.estimator.EstimatorSpec(mode, loss=cost, eval_metric_ops={"cost_per_word": (mean, update), "perplexity": (tf.exp(mean), update)})
  lr = tf.Variable(0.0, trainable=False, name="lr")
  tvars = tf.trainable_variables()
  grads, _ = tf.clip_by_global_norm(tf.gradients(cost, tvars), config.max_grad_norm)
  optimizer = tf.train.GradientDescentOptimizer(lr)
  with tf.control_dependencies(keep_state + list(grads)):
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=tf.train.get_or_create_global_step())
  return tf.estimator.EstimatorSpec(mode, loss=cost, train_op=train_op)


def main(_):
  logging.set_verbosity(logging.ERROR)
  config = {"tiny": TinyConfig, "small": SmallConfig}[FLAGS.model]()
  words = raw_data()
  input_fn = lambda: ptb_producer(words, config.batch_size, config.num_steps, name="TrainInput")
  per_epoch = (len(words) // config.batch_size - 1) // config.num_steps
  hook = RateHook(config, per_epoch)
  estimator = tf.estimator.Estimator(model_fn, FLAGS.save_path, params={"config": config})
  estimator.train(input_fn, hooks=[hook], steps=per_epoch * config.max_max_epoch)
  result = estimator.evaluate(input_fn, steps=per_epoch)
  print(json.dumps({"per_epoch": per_epoch, "rates": hook.rates[::per_epoch], "cost": float(result["cost_per_word"]), "perplexity": float(result["perplexity"]),
                    "names": sorted(estimator.get_variable_names())}))


if __name__ == "__main__":
  tf.app.run()
