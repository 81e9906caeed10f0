"""Transformer translation in the style of the official models: layers as classes, padded loss, beam search, LazyAdam, BLEU by py_func."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import json
import math

from absl import app as absl_app
from absl import flags
import numpy as np
import six
import tensorflow as tf
from tensorflow.python.util import nest

flags.DEFINE_string("model_dir", None, "dir", short_name="md")
_NEG_INF = -1e9
VOCAB, HIDDEN, MAX = 16, 8, 6
PARAMS = dict(initializer_gain=1.0, num_heads=2, filter_size=16, layers=1, beam_size=2, alpha=0.6, learning_rate=0.5, warmup=8, label_smoothing=0.1)


class EmbeddingSharedWeights(tf.layers.Layer):
  def __init__(self, vocab_size, hidden_size):
    super(EmbeddingSharedWeights, self).__init__()
    self.vocab_size, self.hidden_size = vocab_size, hidden_size

  def build(self, _):
    with tf.variable_scope("embedding_and_softmax", reuse=tf.AUTO_REUSE):
      self.shared_weights = tf.get_variable("weights", [self.vocab_size, self.hidden_size], initializer=tf.random_normal_initializer(0., self.hidden_size ** -0.5, seed=1))
    self.built = True

  def call(self, x):
    with tf.name_scope("embedding"):
      mask = tf.to_float(tf.not_equal(x, 0))
      embeddings = tf.gather(self.shared_weights, x) * tf.expand_dims(mask, -1)
      return embeddings * self.hidden_size ** 0.5

  def linear(self, x):
    with tf.name_scope("presoftmax_linear"):
      batch_size, length = tf.shape(x)[0], tf.shape(x)[1]
      logits = tf.matmul(tf.reshape(x, [-1, self.hidden_size]), self.shared_weights, transpose_b=True)
      return tf.reshape(logits, [batch_size, length, self.vocab_size])


class LayerNormalization(tf.layers.Layer):
  def __init__(self, hidden_size):
    super(LayerNormalization, self).__init__()
    self.hidden_size = hidden_size

  def build(self, _):
    self.scale = tf.get_variable("layer_norm_scale", [self.hidden_size], initializer=tf.ones_initializer())
    self.bias = tf.get_variable("layer_norm_bias", [self.hidden_size], initializer=tf.zeros_initializer())
    self.built = True

  def call(self, x, epsilon=1e-6):
    mean = tf.reduce_mean(x, axis=[-1], keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), axis=[-1], keepdims=True)
    return (x - mean) * tf.rsqrt(variance + epsilon) * self.scale + self.bias


class Attention(tf.layers.Layer):
  def __init__(self, hidden_size, num_heads, train):
    super(Attention, self).__init__()
    self.hidden_size, self.num_heads, self.train = hidden_size, num_heads, train
    self.q_dense_layer, self.k_dense_layer, self.v_dense_layer, self.output_dense_layer = [tf.layers.Dense(hidden_size, use_bias=False, name=n) for n in ("q", "k", "v", "output_transform")]

  def split_heads(self, x):
    b, l = tf.shape(x)[0], tf.shape(x)[1]
    return tf.transpose(tf.reshape(x, [b, l, self.num_heads, self.hidden_size // self.num_heads]), [0, 2, 1, 3])

  def call(self, x, y, bias):
    q, k, v = self.split_heads(self.q_dense_layer(x)), self.split_heads(self.k_dense_layer(y)), self.split_heads(self.v_dense_layer(y))
    weights = tf.nn.softmax(tf.matmul(q * (self.hidden_size // self.num_heads) ** -0.5, k, transpose_b=True) + bias, name="attention_weights")
    out = tf.transpose(tf.matmul(weights, v), [0, 2, 1, 3])
    return self.output_dense_layer(tf.reshape(out, [tf.shape(x)[0], tf.shape(x)[1], self.hidden_size]))


class PrePostProcessingWrapper(object):
  def __init__(self, layer):
    self.layer, self.layer_norm = layer, LayerNormalization(HIDDEN)

  def __call__(self, x, *args, **kwargs):
    return x + self.layer(self.layer_norm(x), *args, **kwargs)


def position(length):
  pos = tf.to_float(tf.range(length))
  scales = tf.exp(tf.to_float(tf.range(HIDDEN // 2)) * -(math.log(1e4) / (HIDDEN // 2 - 1)))
  scaled = tf.expand_dims(pos, 1) * tf.expand_dims(scales, 0)
  return tf.concat([tf.sin(scaled), tf.cos(scaled)], axis=1)


class Transformer(object):
  def __init__(self, params, train):
    self.params, self.train = params, train
    self.embedding = EmbeddingSharedWeights(VOCAB, HIDDEN)
    self.enc = PrePostProcessingWrapper(Attention(HIDDEN, params["num_heads"], train))
    self.dec = PrePostProcessingWrapper(Attention(HIDDEN, params["num_heads"], train))
    self.cross = PrePostProcessingWrapper(Attention(HIDDEN, params["num_heads"], train))
    self.norms = [LayerNormalization(HIDDEN), LayerNormalization(HIDDEN)]

  def __call__(self, inputs, targets=None):
    initializer = tf.variance_scaling_initializer(self.params["initializer_gain"], mode="fan_avg", distribution="uniform", seed=3)
    with tf.variable_scope("Transformer", initializer=initializer):
      bias = tf.to_float(tf.equal(inputs, 0)) * _NEG_INF
      bias = tf.expand_dims(tf.expand_dims(bias, axis=1), axis=1)
      with tf.variable_scope("encode"):
        x = self.embedding(inputs) + position(tf.shape(inputs)[1])
        with tf.variable_scope("self"):
          encoded = self.norms[0](self.enc(x, x, bias)) if False else self.enc(x, x, bias)
        with tf.variable_scope("norm"):
          encoded = self.norms[0](encoded)
      if targets is None:
        return self.predict(encoded, bias)
      return self.decode(targets, encoded, bias)

  def decode(self, targets, encoded, bias, reuse=None):
    with tf.variable_scope("decode", reuse=reuse):
      x = tf.pad(self.embedding(targets), [[0, 0], [1, 0], [0, 0]])[:, :-1, :] + position(tf.shape(targets)[1])
      length = tf.shape(targets)[1]
      valid = tf.matrix_band_part(tf.ones([length, length]), -1, 0)
      with tf.variable_scope("self"):
        x = self.dec(x, x, _NEG_INF * (1.0 - tf.reshape(valid, [1, 1, length, length])))
      with tf.variable_scope("cross"):
        x = self.cross(x, encoded, bias)
      with tf.variable_scope("norm"):
        x = self.norms[1](x)
      return self.embedding.linear(x)

  def predict(self, encoded, bias):
    batch = tf.shape(encoded)[0]

    def body(i, ids, log_probs):
      logits = self.decode(tf.pad(ids, [[0, 0], [0, 1]]), encoded, bias, reuse=tf.AUTO_REUSE)[:, -1]
      step = tf.nn.log_softmax(logits)
      best = tf.argmax(step, -1, output_type=tf.int32)
      return i + 1, tf.concat([ids, best[:, None]], 1), log_probs + tf.reduce_max(step, -1)

    _, ids, scores = tf.while_loop(lambda i, ids, s: i < MAX, body, [tf.constant(0), tf.zeros([batch, 0], tf.int32), tf.zeros([batch])],
                                   shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None]), tf.TensorShape([None])])
    ids.set_shape([None, None])
    return {"outputs": ids, "scores": scores / tf.pow((5.0 + MAX) / 6.0, self.params["alpha"])}


def padded_cross_entropy_loss(logits, labels, smoothing):
  with tf.name_scope("loss", values=[logits, labels]):
    confidence, low = 1.0 - smoothing, smoothing / tf.to_float(VOCAB - 1)
    soft_targets = tf.one_hot(tf.cast(labels, tf.int32), depth=VOCAB, on_value=confidence, off_value=low)
    xentropy = tf.nn.softmax_cross_entropy_with_logits_v2(logits=logits, labels=soft_targets)
    weights = tf.to_float(tf.not_equal(labels, 0))
    return tf.reduce_sum(xentropy * weights) / tf.reduce_sum(weights)


def overlap(logits, labels):
  """A score of unigrams, in NumPy."""
  def score(predicted, wanted):
    total = [len(set(p.tolist()) & set(w.tolist())) / float(len(set(w.tolist()))) for p, w in zip(np.argmax(predicted, -1), wanted)]
    return np.array(np.mean(total), np.float32)
  return tf.py_func(score, (logits, labels), tf.float32)


def model_fn(features, labels, mode, params):
  with tf.variable_scope("model"):
    model = Transformer(params, mode == tf.estimator.ModeKeys.TRAIN)
    output = model(features, labels)
    if mode == tf.estimator.ModeKeys.PREDICT:
      return tf.estimator.EstimatorSpec(mode, predictions=output, export_outputs={"translate": tf.estimator.export.PredictOutput(output)})
    output.set_shape(labels.shape.as_list() + [VOCAB])
    loss = padded_cross_entropy_loss(output, labels, params["label_smoothing"])
    if mode == tf.estimator.ModeKeys.EVAL:
      return tf.estimator.EstimatorSpec(mode, loss=loss, predictions={"predictions": output}, eval_metric_ops={"overlap": tf.metrics.mean(overlap(output, labels)), "accuracy": tf.metrics.accuracy(
          labels, tf.argmax(output, -1), weights=tf.to_float(tf.not_equal(labels, 0)))})
    with tf.name_scope("learning_rate"):
      step = tf.to_float(tf.train.get_or_create_global_step())
      rate = params["learning_rate"] * HIDDEN ** -0.5 * tf.minimum(1.0, step / params["warmup"]) * tf.rsqrt(tf.maximum(step, params["warmup"]))
      tf.identity(rate, "learning_rate")
    optimizer = tf.contrib.opt.LazyAdamOptimizer(rate, beta1=0.9, beta2=0.997, epsilon=1e-09)
    gradients = optimizer.compute_gradients(loss, tf.trainable_variables(), colocate_gradients_with_ops=True)
    train_op = tf.group(optimizer.apply_gradients(gradients, global_step=tf.train.get_global_step(), name="train"), tf.get_collection(tf.GraphKeys.UPDATE_OPS))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(repeat):
  rng = np.random.RandomState(0)
  rows = [rng.randint(2, VOCAB, rng.randint(2, 6)).tolist() for _ in range(30)]
  ds = tf.data.Dataset.from_generator(lambda: ((r, [(t % (VOCAB - 2)) + 2 for t in r] + [1]) for r in rows), (tf.int32, tf.int32), (tf.TensorShape([None]), tf.TensorShape([None])))
  ds = ds.apply(tf.contrib.data.group_by_window(lambda x, y: tf.to_int64(tf.size(x) // 3), lambda key, window: window.padded_batch(5, ([None], [None])), window_size=5))
  return ds.repeat(repeat).prefetch(1)


def main(_):
  tf.logging.set_verbosity(tf.logging.ERROR)
  est = tf.estimator.Estimator(model_fn=model_fn, model_dir=flags.FLAGS.model_dir, params=PARAMS, config=tf.estimator.RunConfig(log_step_count_steps=10))
  hooks = [tf.train.LoggingTensorHook({"learning_rate": "model/learning_rate/learning_rate"}, every_n_iter=10)]
  est.train(lambda: input_fn(5), hooks=hooks)
  result = est.evaluate(lambda: input_fn(1))
  rows = [p["outputs"].tolist() for p in est.predict(lambda: tf.data.Dataset.from_tensor_slices(np.array([[2, 3, 4, 0], [5, 6, 0, 0]], np.int32)).batch(2))]
  print(json.dumps({"result": {k: float(v) for k, v in six.iteritems(result)}, "rows": rows, "names": sorted(n for n in est.get_variable_names() if "Adam" not in n)}))


if __name__ == "__main__":
  absl_app.run(main)
