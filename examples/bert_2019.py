# ruff: noqa
"""A classifier of 2019, written as such programs were: TPUEstimator, tf.contrib, tf.flags, a checkpoint to start from.

Nothing in it knows of Lightwell. It runs unchanged on today's TensorFlow:

    lightwell run examples/bert_2019.py --output_dir=/tmp/bert --do_train --do_eval --do_predict

The sentences are made up: each is a row of token numbers, and its label says whether the word 7 comes before the 9.
"""

from __future__ import absolute_import, division, print_function

import collections
import os
import random
import re

import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("output_dir", None, "Where the model is written.")
flags.DEFINE_string("init_checkpoint", None, "A checkpoint to start from.")
flags.DEFINE_bool("do_train", False, "Whether to train.")
flags.DEFINE_bool("do_eval", False, "Whether to evaluate.")
flags.DEFINE_bool("do_predict", False, "Whether to predict.")
flags.DEFINE_bool("use_tpu", False, "Whether to use a TPU.")
flags.DEFINE_integer("train_batch_size", 32, "Batch size for training.")
flags.DEFINE_integer("eval_batch_size", 8, "Batch size for evaluation.")
flags.DEFINE_integer("predict_batch_size", 8, "Batch size for prediction.")
flags.DEFINE_integer("train_steps", 300, "How many steps to train.")
flags.DEFINE_integer("iterations_per_loop", 100, "Steps in each call to the TPU.")
flags.DEFINE_float("learning_rate", 2e-3, "The learning rate after the warm-up.")
flags.DEFINE_float("warmup_proportion", 0.1, "The part of the training in which the learning rate rises.")

VOCABULARY, LENGTH, HIDDEN, HEADS, LAYERS, LABELS = 20, 12, 32, 2, 2, 2
EXAMPLES = {"train": 2048, "eval": 256, "predict": 32}


# The data: TFRecords.


def write_records(path, number, seed):
    generator = random.Random(seed)
    writer = tf.python_io.TFRecordWriter(path)
    for _ in range(number):
        words = [generator.randrange(10, VOCABULARY) for _ in range(LENGTH)]
        first, second = sorted(generator.sample(range(LENGTH), 2))
        label = generator.randrange(2)
        words[first], words[second] = (7, 9) if label else (9, 7)
        features = collections.OrderedDict()
        features["input_ids"] = tf.train.Feature(int64_list=tf.train.Int64List(value=words))
        features["input_mask"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[1] * LENGTH))
        features["label_ids"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))
        writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    writer.close()


def file_based_input_fn_builder(input_file, is_training, drop_remainder):
    name_to_features = {
        "input_ids": tf.FixedLenFeature([LENGTH], tf.int64),
        "input_mask": tf.FixedLenFeature([LENGTH], tf.int64),
        "label_ids": tf.FixedLenFeature([], tf.int64),
    }

    def _decode_record(record):
        example = tf.parse_single_example(record, name_to_features)
        for name in list(example.keys()):  # a TPU takes int32 only
            example[name] = tf.to_int32(example[name])
        return example

    def input_fn(params):
        d = tf.data.TFRecordDataset(input_file)
        if is_training:
            d = d.repeat()
            d = d.shuffle(buffer_size=100, seed=1)
        return d.apply(
            tf.contrib.data.map_and_batch(
                _decode_record, batch_size=params["batch_size"], drop_remainder=drop_remainder
            )
        )

    return input_fn


# The model: a transformer encoder, with the variable names of BERT.


def get_shape_list(tensor):
    static, dynamic = tensor.shape.as_list(), tf.shape(tensor)
    return [dynamic[index] if size is None else size for index, size in enumerate(static)]


def gelu(x):
    return x * 0.5 * (1.0 + tf.erf(x / tf.sqrt(2.0)))


def create_initializer(initializer_range=0.02):
    return tf.truncated_normal_initializer(stddev=initializer_range)


def layer_norm(input_tensor, name=None):
    return tf.contrib.layers.layer_norm(inputs=input_tensor, begin_norm_axis=-1, begin_params_axis=-1, scope=name)


def dropout(input_tensor, dropout_prob):
    if dropout_prob is None or dropout_prob == 0.0:
        return input_tensor
    return tf.nn.dropout(input_tensor, 1.0 - dropout_prob)


def attention_layer(x, mask, dropout_prob):
    batch, length, width = get_shape_list(x)
    size = width // HEADS

    def heads(name):
        projected = tf.layers.dense(x, width, name=name, kernel_initializer=create_initializer())
        return tf.transpose(tf.reshape(projected, [batch, length, HEADS, size]), [0, 2, 1, 3])

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = tf.matmul(query, key, transpose_b=True) / float(size) ** 0.5
    scores += (1.0 - tf.cast(mask[:, tf.newaxis, tf.newaxis, :], tf.float32)) * -10000.0
    probs = dropout(tf.nn.softmax(scores), dropout_prob)
    context = tf.transpose(tf.matmul(probs, value), [0, 2, 1, 3])
    return tf.reshape(context, [batch, length, width])


def bert_model(is_training, input_ids, input_mask, use_one_hot_embeddings):
    dropout_prob = 0.1 if is_training else 0.0
    with tf.variable_scope("bert"):
        with tf.variable_scope("embeddings"):
            table = tf.get_variable("word_embeddings", [VOCABULARY, HIDDEN], initializer=create_initializer())
            if use_one_hot_embeddings:
                flat = tf.one_hot(tf.reshape(input_ids, [-1]), depth=VOCABULARY)
                x = tf.reshape(tf.matmul(flat, table), get_shape_list(input_ids) + [HIDDEN])
            else:
                x = tf.gather(table, input_ids)
            positions = tf.get_variable("position_embeddings", [LENGTH, HIDDEN], initializer=create_initializer())
            x = dropout(layer_norm(x + positions), dropout_prob)
        with tf.variable_scope("encoder"):
            for index in range(LAYERS):
                with tf.variable_scope("layer_%d" % index):
                    with tf.variable_scope("attention"):
                        with tf.variable_scope("self"):
                            context = attention_layer(x, input_mask, dropout_prob)
                        with tf.variable_scope("output"):
                            out = tf.layers.dense(context, HIDDEN, kernel_initializer=create_initializer())
                            x = layer_norm(x + dropout(out, dropout_prob))
                    with tf.variable_scope("intermediate"):
                        wide = tf.layers.dense(x, 4 * HIDDEN, activation=gelu, kernel_initializer=create_initializer())
                    with tf.variable_scope("output"):
                        out = tf.layers.dense(wide, HIDDEN, kernel_initializer=create_initializer())
                        x = layer_norm(x + dropout(out, dropout_prob))
        with tf.variable_scope("pooler"):
            return tf.layers.dense(x[:, 0, :], HIDDEN, activation=tf.tanh, kernel_initializer=create_initializer())


# The optimizer: Adam with weight decay, on the v1 base class.


class AdamWeightDecayOptimizer(tf.train.Optimizer):
    def __init__(self, learning_rate, weight_decay_rate=0.01, exclude_from_weight_decay=None):
        super(AdamWeightDecayOptimizer, self).__init__(False, "AdamWeightDecayOptimizer")
        self.learning_rate, self.weight_decay_rate = learning_rate, weight_decay_rate
        self.exclude_from_weight_decay = exclude_from_weight_decay or []

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        assignments = []
        for grad, param in grads_and_vars:
            if grad is None or param is None:
                continue
            param_name = re.match("^(.*):\\d+$", param.name).group(1)
            m, v = [
                tf.get_variable(
                    name=param_name + slot,
                    shape=param.shape.as_list(),
                    dtype=tf.float32,
                    trainable=False,
                    initializer=tf.zeros_initializer(),
                )
                for slot in ("/adam_m", "/adam_v")
            ]
            next_m = tf.multiply(0.9, m) + tf.multiply(0.1, grad)
            next_v = tf.multiply(0.999, v) + tf.multiply(0.001, tf.square(grad))
            update = next_m / (tf.sqrt(next_v) + 1e-6)
            if not any(re.search(pattern, param_name) for pattern in self.exclude_from_weight_decay):
                update += self.weight_decay_rate * param
            next_param = param - self.learning_rate * update
            assignments.extend([param.assign(next_param), m.assign(next_m), v.assign(next_v)])
        return tf.group(*assignments, name=name)


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps, use_tpu):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.train.polynomial_decay(
        tf.constant(init_lr, tf.float32), global_step, num_train_steps, end_learning_rate=0.0, power=1.0
    )
    if num_warmup_steps:
        done = tf.cast(global_step, tf.float32) / tf.constant(num_warmup_steps, tf.float32)
        is_warmup = tf.cast(global_step < num_warmup_steps, tf.float32)
        learning_rate = (1.0 - is_warmup) * learning_rate + is_warmup * init_lr * done
    optimizer = AdamWeightDecayOptimizer(learning_rate, 0.01, ["LayerNorm", "layer_norm", "bias"])
    if use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    tvars = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
    train_op = optimizer.apply_gradients(zip(grads, tvars), global_step=global_step)
    return tf.group(train_op, [global_step.assign(global_step + 1)])


def get_assignment_map_from_checkpoint(tvars, init_checkpoint):
    names = {re.match("^(.*):\\d+$", var.name).group(1) for var in tvars}
    return collections.OrderedDict(
        (name, name) for name, _ in tf.train.list_variables(init_checkpoint) if name in names
    )


# The Estimator.


def model_fn_builder(init_checkpoint, learning_rate, num_train_steps, num_warmup_steps, use_tpu):
    def model_fn(features, labels, mode, params):
        tf.logging.info("*** Features ***")
        for name in sorted(features.keys()):
            tf.logging.info("  name = %s, shape = %s" % (name, features[name].shape))
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        pooled = bert_model(is_training, features["input_ids"], features["input_mask"], use_tpu)
        weights = tf.get_variable("output_weights", [LABELS, HIDDEN], initializer=create_initializer())
        bias = tf.get_variable("output_bias", [LABELS], initializer=tf.zeros_initializer())
        with tf.variable_scope("loss"):
            if is_training:
                pooled = tf.nn.dropout(pooled, keep_prob=0.9)
            logits = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)
            label_ids = features["label_ids"]
            one_hot = tf.one_hot(label_ids, depth=LABELS, dtype=tf.float32)
            per_example_loss = -tf.reduce_sum(one_hot * tf.nn.log_softmax(logits, axis=-1), axis=-1)
            total_loss = tf.reduce_mean(per_example_loss)

        scaffold_fn = None
        if init_checkpoint:
            assignment_map = get_assignment_map_from_checkpoint(tf.trainable_variables(), init_checkpoint)
            tf.train.init_from_checkpoint(init_checkpoint, assignment_map)

        if mode == tf.estimator.ModeKeys.TRAIN:
            train_op = create_optimizer(total_loss, learning_rate, num_train_steps, num_warmup_steps, use_tpu)
            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode, loss=total_loss, train_op=train_op, scaffold_fn=scaffold_fn
            )
        if mode == tf.estimator.ModeKeys.EVAL:

            def metric_fn(per_example_loss, label_ids, logits):
                predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
                return {
                    "eval_accuracy": tf.metrics.accuracy(label_ids, predictions),
                    "eval_loss": tf.metrics.mean(values=per_example_loss),
                }

            return tf.contrib.tpu.TPUEstimatorSpec(
                mode=mode,
                loss=total_loss,
                eval_metrics=(metric_fn, [per_example_loss, label_ids, logits]),
                scaffold_fn=scaffold_fn,
            )
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode, predictions={"probabilities": tf.nn.softmax(logits)}, scaffold_fn=scaffold_fn
        )

    return model_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.gfile.MakeDirs(FLAGS.output_dir)
    files = {name: os.path.join(FLAGS.output_dir, name + ".tf_record") for name in EXAMPLES}
    for seed, (name, number) in enumerate(sorted(EXAMPLES.items())):
        write_records(files[name], number, seed)

    is_per_host = tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2
    run_config = tf.contrib.tpu.RunConfig(
        cluster=None,
        master=None,
        model_dir=FLAGS.output_dir,
        tf_random_seed=1,
        save_checkpoints_steps=100,
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=FLAGS.iterations_per_loop, num_shards=8, per_host_input_for_training=is_per_host
        ),
    )
    model_fn = model_fn_builder(
        FLAGS.init_checkpoint,
        FLAGS.learning_rate,
        FLAGS.train_steps,
        int(FLAGS.train_steps * FLAGS.warmup_proportion),
        FLAGS.use_tpu,
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn,
        config=run_config,
        train_batch_size=FLAGS.train_batch_size,
        eval_batch_size=FLAGS.eval_batch_size,
        predict_batch_size=FLAGS.predict_batch_size,
    )
    if FLAGS.do_train:
        input_fn = file_based_input_fn_builder(files["train"], is_training=True, drop_remainder=True)
        estimator.train(input_fn=input_fn, max_steps=FLAGS.train_steps)
    if FLAGS.do_eval:
        input_fn = file_based_input_fn_builder(files["eval"], is_training=False, drop_remainder=False)
        result = estimator.evaluate(input_fn=input_fn, steps=None)
        with tf.gfile.GFile(os.path.join(FLAGS.output_dir, "eval_results.txt"), "w") as writer:
            for key in sorted(result.keys()):
                tf.logging.info("  %s = %s", key, str(result[key]))
                writer.write("%s = %s\n" % (key, str(result[key])))
    if FLAGS.do_predict:
        input_fn = file_based_input_fn_builder(files["predict"], is_training=False, drop_remainder=False)
        with tf.gfile.GFile(os.path.join(FLAGS.output_dir, "test_results.tsv"), "w") as writer:
            for prediction in estimator.predict(input_fn=input_fn):
                writer.write("\t".join(str(share) for share in prediction["probabilities"]) + "\n")


if __name__ == "__main__":
    flags.mark_flag_as_required("output_dir")
    tf.app.run()
