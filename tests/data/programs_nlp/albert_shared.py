# coding=utf-8
"""ALBERT in small: factorized embeddings, one group of parameters used twice, LAMB with layer-wise learning rates."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import collections
import json
import re

from absl import app
from absl import flags
from absl import logging
import numpy as np
import six
from six.moves import range
from six.moves import zip
import tensorflow.compat.v1 as tf
from tensorflow.contrib import layers as contrib_layers
from tensorflow.contrib import tpu as contrib_tpu
from tensorflow.python.ops import control_flow_ops
from tensorflow.python.ops import linalg_ops
from tensorflow.python.ops import math_ops

FLAGS = flags.FLAGS
flags.DEFINE_string("output_dir", None, "The output directory.")
flags.DEFINE_enum("optimizer", "lamb", ["lamb", "adamw"], "The optimizer.")
flags.DEFINE_list("layers", ["1", "1"], "Groups.")


class LAMBOptimizer(tf.train.Optimizer):
    def __init__(self, learning_rate, weight_decay_rate=0.0, beta_1=0.9, beta_2=0.999, epsilon=1e-6,
                 exclude_from_weight_decay=None, exclude_from_layer_adaptation=None, name="LAMBOptimizer"):
        super(LAMBOptimizer, self).__init__(False, name)
        self.learning_rate, self.weight_decay_rate = learning_rate, weight_decay_rate
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.exclude_from_weight_decay = exclude_from_weight_decay
        self.exclude_from_layer_adaptation = exclude_from_layer_adaptation or exclude_from_weight_decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for (grad, param) in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = re.match("^(.*):\\d+$", param.name).group(1)
            with tf.variable_scope(self._name, reuse=tf.AUTO_REUSE):
                m = tf.get_variable(name=param_name + "/lamb_m", shape=param.shape.as_list(), dtype=tf.float32, trainable=False, initializer=tf.zeros_initializer())
                v = tf.get_variable(name=param_name + "/lamb_v", shape=param.shape.as_list(), dtype=tf.float32, trainable=False, initializer=tf.zeros_initializer())
            next_m = tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad)
            next_v = tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + self.epsilon)
            excluded = any(re.search(r, param_name) for r in self.exclude_from_weight_decay)
            ratio = 1.0
            if not excluded:
                update += self.weight_decay_rate * param
                w_norm = linalg_ops.norm(param, ord=2)
                g_norm = linalg_ops.norm(update, ord=2)
                ratio = tf.where(math_ops.greater(w_norm, 0), tf.where(math_ops.greater(g_norm, 0), (w_norm / g_norm), 1.0), 1.0)
            next_param = param - ratio * self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        with tf.control_dependencies(assignments):
            if global_step is not None:
                assignments.append(tf.assign_add(global_step, 1))
        return control_flow_ops.group(*assignments, name=name)


def einsum_via_dense(x, heads, size, name, seed):
    hidden = x.shape.as_list()[-1]
    with tf.variable_scope(name):
        w = tf.get_variable("kernel", shape=[hidden, heads * size], initializer=tf.truncated_normal_initializer(stddev=0.2, seed=seed))
        b = tf.get_variable("bias", shape=[heads * size], initializer=tf.zeros_initializer)
    return tf.einsum("BFH,HND->BFND", x, tf.reshape(w, [hidden, heads, size])) + tf.reshape(b, [heads, size])


def block(x, mask):
    q, k, v = [einsum_via_dense(x, 2, 4, n, i) for i, n in enumerate(["query", "key", "value"])]
    scores = tf.einsum("BTNH,BFNH->BNFT", k, q) * 0.5
    scores += (1.0 - tf.cast(mask, tf.float32))[:, tf.newaxis, tf.newaxis, :] * -10000.0
    context = tf.einsum("BNFT,BTNH->BFNH", tf.nn.softmax(scores), v)
    x = contrib_layers.layer_norm(inputs=x + tf.reshape(context, tf.shape(x)), begin_norm_axis=-1, begin_params_axis=-1, scope="LayerNorm")
    with tf.variable_scope("ffn_1"):
        inner = tf.layers.dense(x, 16, activation=tf.nn.relu, kernel_initializer=tf.truncated_normal_initializer(stddev=0.2, seed=9))
    return contrib_layers.layer_norm(inputs=x + inner[:, :, :8] - inner[:, :, 8:], begin_norm_axis=-1, begin_params_axis=-1, scope="LayerNorm_1")


def model_fn(features, labels, mode, params):
    ids, mask = features["ids"], features["mask"]
    with tf.variable_scope("albert", reuse=tf.AUTO_REUSE):
        table = tf.get_variable("word_embeddings", [20, 4], initializer=tf.truncated_normal_initializer(stddev=0.3, seed=1))
        x = tf.nn.embedding_lookup(table, ids)
        x = tf.layers.dense(x, 8, kernel_initializer=tf.truncated_normal_initializer(stddev=0.3, seed=2), name="embedding_hidden_mapping_in")
        for layer_idx in range(3):
            with tf.variable_scope("group_%d" % 0, reuse=tf.AUTO_REUSE):
                with tf.name_scope("layer_%d" % layer_idx):
                    x = block(x, mask)
    start = tf.squeeze(tf.layers.dense(x, 1, kernel_initializer=tf.truncated_normal_initializer(stddev=0.3, seed=3)), -1)
    start = start * tf.cast(mask, tf.float32) - 1e30 * (1 - tf.cast(mask, tf.float32))
    if mode == tf.estimator.ModeKeys.PREDICT:
        top, index = tf.nn.top_k(tf.nn.softmax(start), k=2)
        return contrib_tpu.TPUEstimatorSpec(mode=mode, predictions={"start_top": top, "start_index": index})
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=start))
    if mode == tf.estimator.ModeKeys.EVAL:
        return contrib_tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(
            lambda labels, start: {"exact": tf.metrics.accuracy(labels, tf.argmax(start, -1))}, dict(labels=labels, start=start)))
    tvars = tf.trainable_variables()
    grads = tf.gradients(loss, tvars, colocate_gradients_with_ops=True)
    grads, _ = tf.clip_by_global_norm(grads, clip_norm=1.0)
    optimizer = LAMBOptimizer(0.02, 0.01, exclude_from_weight_decay=["LayerNorm", "layer_norm", "bias"])
    train_op = optimizer.apply_gradients(list(zip(grads, tvars)), tf.train.get_or_create_global_step())
    return contrib_tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def input_fn(params):
    rng = np.random.RandomState(3)
    ids = rng.randint(2, 20, [32, 6]).astype(np.int32)
    labels = rng.randint(0, 5, [32]).astype(np.int64)
    ids[np.arange(32), labels] = 1
    mask = np.ones_like(ids)
    mask[:, 5] = 0
    return tf.data.Dataset.from_tensor_slices(({"ids": ids, "mask": mask}, labels)).repeat(params.get("epochs", 1)).batch(params["batch_size"], drop_remainder=True)


def main(argv):
    del argv
    logging.set_verbosity(logging.ERROR)
    config = contrib_tpu.RunConfig(model_dir=FLAGS.output_dir, save_checkpoints_steps=50, tpu_config=contrib_tpu.TPUConfig(iterations_per_loop=10))
    estimator = contrib_tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=8, eval_batch_size=8, predict_batch_size=8, params={"epochs": 6})
    estimator.train(input_fn, steps=20)
    result = estimator.evaluate(input_fn, steps=4)
    names = [n for n in estimator.get_variable_names() if "lamb" not in n]
    first = next(estimator.predict(input_fn))
    print(json.dumps({"loss": float(result["loss"]), "exact": float(result["exact"]), "names": sorted(names),
                      "top": first["start_top"].tolist(), "index": first["start_index"].tolist()}))


if __name__ == "__main__":
    flags.mark_flag_as_required("output_dir")
    app.run(main)
