"""BERT in small: run_classifier with a TPUEstimator, modeling, an Adam with weight decay, warm-up, init_from_checkpoint."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import collections
import json
import math
import os
import re

import numpy as np
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("output_dir", None, "The output directory where the model checkpoints will be written.")
flags.DEFINE_string("init_checkpoint", None, "Initial checkpoint (usually from a pre-trained BERT model).")
flags.DEFINE_bool("do_train", True, "Whether to run training.")
flags.DEFINE_integer("train_batch_size", 4, "Total batch size for training.")
flags.DEFINE_float("learning_rate", 5e-3, "The initial learning rate for Adam.")
flags.DEFINE_integer("num_train_steps", 8, "Steps.")
flags.DEFINE_bool("use_tpu", False, "Whether to use TPU or GPU/CPU.")
tf.flags.DEFINE_string("tpu_name", None, "The Cloud TPU to use for training.")
flags.DEFINE_integer("num_tpu_cores", 8, "Only used if `use_tpu` is True.")

HIDDEN, HEADS, LENGTH, VOCAB = 8, 2, 5, 30


def create_initializer(seed):
    return tf.truncated_normal_initializer(stddev=0.2, seed=seed)


def gelu(x):
    return x * 0.5 * (1.0 + tf.tanh((np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3)))))


def layer_norm(input_tensor, name=None):
    return tf.contrib.layers.layer_norm(inputs=input_tensor, begin_norm_axis=-1, begin_params_axis=-1, scope=name)


def get_shape_list(tensor):
    shape = tensor.shape.as_list()
    dynamic = tf.shape(tensor)
    return [dynamic[index] if dim is None else dim for index, dim in enumerate(shape)]


def attention_layer(x, mask, seed):
    batch, length, _ = get_shape_list(x)

    def project(name, number):
        out = tf.layers.dense(x, HIDDEN, name=name, kernel_initializer=create_initializer(seed + number))
        return tf.transpose(tf.reshape(out, [batch, length, HEADS, HIDDEN // HEADS]), [0, 2, 1, 3])

    query, key, value = project("query", 1), project("key", 2), project("value", 3)
    scores = tf.multiply(tf.matmul(query, key, transpose_b=True), 1.0 / math.sqrt(float(HIDDEN // HEADS)))
    adder = (1.0 - tf.cast(tf.expand_dims(mask, axis=[1]), tf.float32)) * -10000.0
    probs = tf.nn.softmax(scores + adder)
    context = tf.transpose(tf.matmul(probs, value), [0, 2, 1, 3])
    return tf.reshape(context, [batch, length, HIDDEN])


def transformer(x, mask):
    with tf.variable_scope("encoder"):
        for index in range(2):
            with tf.variable_scope("layer_%d" % index):
                with tf.variable_scope("attention"):
                    with tf.variable_scope("self"):
                        attended = attention_layer(x, mask, 10 * index)
                    with tf.variable_scope("output"):
                        attended = tf.layers.dense(attended, HIDDEN, kernel_initializer=create_initializer(5))
                        x = layer_norm(attended + x)
                with tf.variable_scope("intermediate"):
                    inner = tf.layers.dense(x, 16, activation=gelu, kernel_initializer=create_initializer(6))
                with tf.variable_scope("output"):
                    x = layer_norm(tf.layers.dense(inner, HIDDEN, kernel_initializer=create_initializer(7)) + x)
    return x


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    """A basic Adam optimizer that includes "correct" L2 weight decay."""

    def __init__(self, learning_rate, weight_decay_rate=0.0, beta_1=0.9, beta_2=0.999, epsilon=1e-6,
                 exclude_from_weight_decay=None, name="AdamWeightDecayOptimizer"):
        super(AdamWeightDecayOptimizer, self).__init__(False, name)
        self.learning_rate = learning_rate
        self.weight_decay_rate = weight_decay_rate
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.exclude_from_weight_decay = exclude_from_weight_decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for (grad, param) in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = self._get_variable_name(param.name)
            m = tf.get_variable(name=param_name + "/adam_m", shape=param.shape.as_list(), dtype=tf.float32,
                                trainable=False, initializer=tf.zeros_initializer())
            v = tf.get_variable(name=param_name + "/adam_v", shape=param.shape.as_list(), dtype=tf.float32,
                                trainable=False, initializer=tf.zeros_initializer())
            next_m = tf.multiply(self.beta_1, m) + tf.multiply(1.0 - self.beta_1, grad)
            next_v = tf.multiply(self.beta_2, v) + tf.multiply(1.0 - self.beta_2, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + self.epsilon)
            if self._do_use_weight_decay(param_name):
                update += self.weight_decay_rate * param
            next_param = param - self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)

    def _do_use_weight_decay(self, param_name):
        return not any(re.search(r, param_name) is not None for r in self.exclude_from_weight_decay or [])

    def _get_variable_name(self, param_name):
        m = re.match("^(.*):\\d+$", param_name)
        return m.group(1) if m is not None else param_name


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps, use_tpu):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.constant(value=init_lr, shape=[], dtype=tf.float32)
    learning_rate = tf.train.polynomial_decay(learning_rate, global_step, num_train_steps, end_learning_rate=0.0, power=1.0, cycle=False)
    if num_warmup_steps:
        global_steps_int = tf.cast(global_step, tf.int32)
        warmup_steps_int = tf.constant(num_warmup_steps, dtype=tf.int32)
        warmup_percent_done = tf.cast(global_steps_int, tf.float32) / tf.cast(warmup_steps_int, tf.float32)
        is_warmup = tf.cast(global_steps_int < warmup_steps_int, tf.float32)
        learning_rate = (1.0 - is_warmup) * learning_rate + is_warmup * init_lr * warmup_percent_done
    optimizer = AdamWeightDecayOptimizer(
        learning_rate=learning_rate, weight_decay_rate=0.01, exclude_from_weight_decay=["LayerNorm", "layer_norm", "bias"])
    if use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    tvars = tf.trainable_variables()
    grads = tf.gradients(loss, tvars)
    (grads, _) = tf.clip_by_global_norm(grads, clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    # Not beside the train_op, as the original has it: there, each run of TensorFlow 1 comes to other numbers.
    with tf.control_dependencies([train_op]):
        new_global_step = global_step + 1
        return tf.group(train_op, [global_step.assign(new_global_step)])


def get_assignment_map_from_checkpoint(tvars, init_checkpoint):
    name_to_variable = collections.OrderedDict()
    for var in tvars:
        name_to_variable[re.match("^(.*):\\d+$", var.name).group(1)] = var
    assignment_map, initialized = collections.OrderedDict(), {}
    for name, _ in tf.train.list_variables(init_checkpoint):
        if name in name_to_variable and not name.startswith("output"):
            assignment_map[name] = name
            initialized[name] = 1
    return assignment_map, initialized


def model_fn_builder(init_checkpoint, learning_rate, num_train_steps, num_warmup_steps, use_tpu):
    def model_fn(features, labels, mode, params):
        input_ids, input_mask, label_ids = features["input_ids"], features["input_mask"], features["label_ids"]
        with tf.variable_scope("bert"):
            with tf.variable_scope("embeddings"):
                table = tf.get_variable("word_embeddings", [VOCAB, HIDDEN], initializer=create_initializer(1))
                position = tf.get_variable("position_embeddings", [LENGTH, HIDDEN], initializer=create_initializer(2))
                flat = tf.reshape(input_ids, [-1])
                embedded = tf.reshape(tf.gather(table, flat), get_shape_list(input_ids) + [HIDDEN]) + position
                embedded = layer_norm(embedded)
            mask = tf.ones([get_shape_list(input_ids)[0], LENGTH, 1]) * tf.cast(tf.reshape(input_mask, [-1, 1, LENGTH]), tf.float32)
            sequence = transformer(embedded, mask)
            with tf.variable_scope("pooler"):
                first = tf.squeeze(sequence[:, 0:1, :], axis=1)
                pooled = tf.layers.dense(first, HIDDEN, activation=tf.tanh, kernel_initializer=create_initializer(3))
        output_weights = tf.get_variable("output_weights", [2, HIDDEN], initializer=create_initializer(4))
        output_bias = tf.get_variable("output_bias", [2], initializer=tf.zeros_initializer())
        with tf.variable_scope("loss"):
            logits = tf.nn.bias_add(tf.matmul(pooled, output_weights, transpose_b=True), output_bias)
            log_probs = tf.nn.log_softmax(logits, axis=-1)
            per_example = -tf.reduce_sum(tf.one_hot(label_ids, depth=2, dtype=tf.float32) * log_probs, axis=-1)
            total_loss = tf.reduce_mean(per_example)
        tvars = tf.trainable_variables()
        scaffold_fn = None
        if init_checkpoint:
            assignment_map, _ = get_assignment_map_from_checkpoint(tvars, init_checkpoint)
            if use_tpu:
                def tpu_scaffold():
                    tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
                    return tf.train.Scaffold()
                scaffold_fn = tpu_scaffold
            else:
                tf.train.init_from_checkpoint(init_checkpoint, assignment_map)
        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op = create_optimizer(total_loss, learning_rate, num_train_steps, num_warmup_steps, use_tpu)
            return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, train_op=train_op, scaffold_fn=scaffold_fn)
        if mode == tf.estimator.ModeKeys.EVAL:
            def metric_fn(per_example_loss, label_ids, logits, is_real_example):
                predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
                accuracy = tf.metrics.accuracy(labels=label_ids, predictions=predictions, weights=is_real_example)
                loss = tf.metrics.mean(values=per_example_loss, weights=is_real_example)
                return {"eval_accuracy": accuracy, "eval_loss": loss}

            real = tf.ones(tf.shape(label_ids), dtype=tf.float32)
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=total_loss, eval_metrics=(metric_fn, [per_example, label_ids, logits, real]), scaffold_fn=scaffold_fn)
        return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, predictions={"probabilities": tf.nn.softmax(logits)}, scaffold_fn=scaffold_fn)

    return model_fn


def write_examples(output_file):
    writer = tf.python_io.TFRecordWriter(output_file)
    random = np.random.RandomState(0)
    for _ in range(16):
        ids = random.randint(1, VOCAB, LENGTH)
        features = collections.OrderedDict()
        as_feature = lambda values: tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))
        features["input_ids"] = as_feature(ids)
        features["input_mask"] = as_feature([1] * (LENGTH - 1) + [random.randint(2)])
        features["label_ids"] = as_feature([int(ids[0] > 15)])
        writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    writer.close()


def file_based_input_fn_builder(input_file, is_training, drop_remainder):
    name_to_features = {
        "input_ids": tf.FixedLenFeature([LENGTH], tf.int64), "input_mask": tf.FixedLenFeature([LENGTH], tf.int64),
        "label_ids": tf.FixedLenFeature([], tf.int64)}

    def _decode_record(record, name_to_features):
        example = tf.parse_single_example(record, name_to_features)
        for name in list(example.keys()):
            t = example[name]
            if t.dtype == tf.int64:
                t = tf.to_int32(t)
            example[name] = t
        return example

    def input_fn(params):
        d = tf.data.TFRecordDataset(input_file)
        if is_training:
            d = d.repeat()
        return d.apply(tf.contrib.data.map_and_batch(
            lambda record: _decode_record(record, name_to_features), batch_size=params["batch_size"], drop_remainder=drop_remainder))

    return input_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.gfile.MakeDirs(FLAGS.output_dir)
    tpu_cluster_resolver = None
    if FLAGS.use_tpu and FLAGS.tpu_name:
        tpu_cluster_resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu_name)
    is_per_host = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
    found = {}
    train_file = os.path.join(FLAGS.output_dir, "train.tf_record")
    write_examples(train_file)
    checkpoint = FLAGS.init_checkpoint
    for run in ("first", "tuned"):
        run_config = tf.contrib.tpu.RunConfig(
            cluster=tpu_cluster_resolver, master=None, model_dir=os.path.join(FLAGS.output_dir, run), save_checkpoints_steps=1000,
            tpu_config=tf.contrib.tpu.TPUConfig(
                iterations_per_loop=1000, num_shards=FLAGS.num_tpu_cores, per_host_input_for_training=is_per_host))
        model_fn = model_fn_builder(checkpoint, FLAGS.learning_rate, FLAGS.num_train_steps, 2, FLAGS.use_tpu)
        estimator = tf.contrib.tpu.TPUEstimator(
            use_tpu=FLAGS.use_tpu, model_fn=model_fn, config=run_config, train_batch_size=FLAGS.train_batch_size,
            eval_batch_size=8, predict_batch_size=8)
        estimator.train(input_fn=file_based_input_fn_builder(train_file, True, True), max_steps=FLAGS.num_train_steps)
        result = estimator.evaluate(input_fn=file_based_input_fn_builder(train_file, False, False), steps=None)
        found[run] = {key: float(result[key]) for key in sorted(result.keys())}
        checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
    rows = [row["probabilities"].tolist() for row in estimator.predict(file_based_input_fn_builder(train_file, False, False))]
    print(json.dumps({"found": found, "rows": len(rows), "first": rows[0]}))


if __name__ == "__main__":
    flags.mark_flag_as_required("output_dir")
    tf.app.run()
