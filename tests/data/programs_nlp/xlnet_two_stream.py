"""XLNet-like relative attention with memory; optimizer is a subclass of AdamOptimizer that overrides its private methods."""
from __future__ import absolute_import
from __future__ import print_function

import json
import os
from absl import flags
import absl.logging as _logging  # pylint: disable=unused-import
import numpy as np
import tensorflow as tf

from tensorflow.python.framework import ops
from tensorflow.python.ops import control_flow_ops, math_ops, resource_variable_ops, state_ops

FLAGS = flags.FLAGS
flags.DEFINE_string("model_dir", default=None, help="Estimator model_dir.")
flags.DEFINE_integer("train_steps", default=12, help="Total number of training steps.")
flags.DEFINE_float("lr_layer_decay_rate", default=0.75, help="lr[L] = learning_rate; lr[l-1] = lr[l] * lr_layer_decay_rate.")
flags.DEFINE_float("dropatt", 0.0, help="Attention dropout rate.")
flags.DEFINE_enum("init", default="normal", enum_values=["normal", "uniform"], help="Initialization method.")


class AdamWeightDecayOptimizer(tf.train.AdamOptimizer):
  """Adam with decoupled weight decay, over the slots of its parent."""

  def __init__(self, learning_rate, weight_decay_rate=0.0, **kwargs):
    super(AdamWeightDecayOptimizer, self).__init__(learning_rate, **kwargs)
    self.weight_decay_rate = weight_decay_rate
    self.decayed = []

  def _prepare(self):
    self.learning_rate_t = ops.convert_to_tensor(self._lr, name="learning_rate")
    self.weight_decay_rate_t = ops.convert_to_tensor(self.weight_decay_rate, name="weight_decay_rate")
    super(AdamWeightDecayOptimizer, self)._prepare()

  def _decay(self, var):
    self.decayed.append(var.name)
    rate = math_ops.cast(self.weight_decay_rate_t, var.dtype.base_dtype) * math_ops.cast(self.learning_rate_t, var.dtype.base_dtype)
    return state_ops.assign_sub(var, rate * var, self._use_locking)

  def _apply_dense(self, grad, var):
    with ops.control_dependencies([self._decay(var)]):
      return super(AdamWeightDecayOptimizer, self)._apply_dense(grad, var)

  def _resource_apply_dense(self, grad, var):
    with ops.control_dependencies([self._decay(var)]):
      return super(AdamWeightDecayOptimizer, self)._resource_apply_dense(grad, var)


def get_initializer():
  if FLAGS.init == "uniform":
    return tf.initializers.random_uniform(minval=-0.1, maxval=0.1, seed=1)
  return tf.initializers.random_normal(stddev=0.2, seed=1)


def positional_embedding(pos_seq, inv_freq):
  sinusoid_inp = tf.einsum("i,d->id", pos_seq, inv_freq)
  return tf.concat([tf.sin(sinusoid_inp), tf.cos(sinusoid_inp)], -1)[:, None, :]


def rel_shift(x, klen=-1):
  """perform relative shift to form the relative attention score."""
  x_size = tf.shape(x)
  x = tf.reshape(x, [x_size[1], x_size[0], x_size[2], x_size[3]])
  x = tf.slice(x, [1, 0, 0, 0], [-1, -1, -1, -1])
  x = tf.reshape(x, [x_size[0], x_size[1] - 1, x_size[2], x_size[3]])
  return tf.slice(x, [0, 0, 0, 0], [-1, klen, -1, -1])


def rel_multihead_attn(h, r, r_w_bias, r_r_bias, d_model, n_head, d_head, init, scope="rel_attn"):
  with tf.variable_scope(scope):
    def head(x, name):
      return tf.einsum("ibh,hnd->ibnd", x, tf.get_variable("{}/kernel".format(name), [d_model, n_head, d_head], dtype=h.dtype, initializer=init))
    q, k, v, r_k = head(h, "q"), head(h, "k"), head(h, "v"), head(r, "r")
    ac = tf.einsum("ibnd,jbnd->ijbn", q + r_w_bias, k)
    bd = rel_shift(tf.einsum("ibnd,jbnd->ijbn", q + r_r_bias, tf.tile(r_k, [1, tf.shape(q)[1], 1, 1])), klen=tf.shape(ac)[1])
    prob = tf.layers.dropout(tf.nn.softmax((ac + bd) / d_head ** 0.5, 1), FLAGS.dropatt, training=True)
    vec = tf.einsum("ijbn,jbnd->ibnd", prob, v)
    out = tf.einsum("ibnd,hnd->ibh", vec, tf.get_variable("o/kernel", [d_model, n_head, d_head], initializer=init))
    return tf.contrib.layers.layer_norm(out + h, begin_norm_axis=-1, scope="LayerNorm")


def model_fn(features, labels, mode, params):
  init = get_initializer()
  inp = tf.transpose(features["input"], [1, 0])
  qlen, bsz = tf.shape(inp)[0], tf.shape(inp)[1]
  with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
    with tf.variable_scope("transformer"):
      lookup_table = tf.get_variable("word_embedding/lookup_table", [30, 8], initializer=init)
      h = tf.gather(lookup_table, inp)
      r_w_bias = tf.get_variable("r_w_bias", [2, 4], initializer=init)
      r_r_bias = tf.get_variable("r_r_bias", [2, 4], initializer=init)
      freq_seq = tf.cast(tf.range(0, 8, 2.0), dtype=tf.float32)
      pos_seq = tf.cast(tf.range(qlen, -qlen, -1), tf.float32)
      pos_emb = positional_embedding(pos_seq, 1 / (10000 ** (freq_seq / 8)))
      for i in range(2):
        with tf.variable_scope("layer_{}".format(i)):
          h = rel_multihead_attn(h, pos_emb, r_w_bias, r_r_bias, 8, 2, 4, init)
    with tf.variable_scope("lm_loss"):
      softmax_b = tf.get_variable("bias", [30], initializer=tf.zeros_initializer())
      logits = tf.einsum("ibd,nd->ibn", h, lookup_table) + softmax_b
  lm_loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.transpose(features["target"], [1, 0]), logits=logits)
  tgt_mask = tf.transpose(features["mask"], [1, 0])
  total_loss = tf.reduce_sum(lm_loss * tgt_mask) / tf.reduce_sum(tgt_mask)
  if mode == tf.estimator.ModeKeys.EVAL:
    perplexity = tf.metrics.mean(total_loss)
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=total_loss, eval_metrics=(
        lambda loss: {"eval/loss": tf.metrics.mean(loss), "eval/pplx": tf.metrics.mean(tf.exp(loss))}, [tf.reshape(total_loss, [1])]))
  global_step = tf.train.get_or_create_global_step()
  learning_rate = tf.where(global_step < 3, tf.cast(global_step, tf.float32) / 3.0 * 0.02,
                           tf.train.cosine_decay(0.02, global_step=global_step - 3, decay_steps=FLAGS.train_steps - 3, alpha=0.1))
  optimizer = AdamWeightDecayOptimizer(learning_rate=learning_rate, epsilon=1e-8, weight_decay_rate=0.01)
  gradients, variables = zip(*optimizer.compute_gradients(total_loss))
  clipped, gnorm = tf.clip_by_global_norm(gradients, 0.25)
  clipped = list(clipped)
  for i in range(len(clipped)):
    for layer in range(2):
      if "layer_{}/".format(layer) in variables[i].name:
        clipped[i] *= FLAGS.lr_layer_decay_rate ** (1 - layer)
  train_op = optimizer.apply_gradients(list(zip(clipped, variables)), global_step=global_step)
  assert len(optimizer.decayed) == len(variables)
  return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, train_op=train_op)


def input_fn(params):
  rng = np.random.RandomState(1)
  data = rng.randint(0, 30, [24, 7]).astype(np.int32)
  data[:, 1::2] = (data[:, 0:-1:2] + 1) % 30
  mask = np.ones([24, 6], np.float32)
  mask[:, -1] = rng.rand(24) > 0.5
  dataset = tf.data.Dataset.from_tensor_slices({"input": data[:, :-1], "target": data[:, 1:], "mask": mask})
  return dataset.cache().repeat().batch(params["batch_size"], drop_remainder=True).prefetch(1)


def main(unused_argv):
  del unused_argv
  tf.logging.set_verbosity(tf.logging.ERROR)
  run_config = tf.contrib.tpu.RunConfig(
      model_dir=FLAGS.model_dir, session_config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=False),
      tpu_config=tf.contrib.tpu.TPUConfig(num_shards=1, iterations_per_loop=4), keep_checkpoint_max=3, save_checkpoints_secs=None, save_checkpoints_steps=6)
  estimator = tf.contrib.tpu.TPUEstimator(model_fn=model_fn, use_tpu=False, config=run_config, params={"track_mean": False},
                                          train_batch_size=4, eval_batch_size=4)
  estimator.train(input_fn=input_fn, max_steps=FLAGS.train_steps)
  results = []
  for filename in sorted(tf.gfile.ListDirectory(FLAGS.model_dir)):
    if filename.endswith(".index"):
      path = os.path.join(FLAGS.model_dir, filename[:-len(".index")])
      global_step = int(path.split("-")[-1])
      ret = estimator.evaluate(input_fn=input_fn, steps=3, checkpoint_path=path)
      results.append([global_step, float(ret["eval/loss"]), float(ret["eval/pplx"])])
  results.sort(key=lambda x: x[0])
  print(json.dumps({"results": results}))


if __name__ == "__main__":
  tf.app.run()
