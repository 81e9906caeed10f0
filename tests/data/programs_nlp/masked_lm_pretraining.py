"""Run masked LM/next sentence masked_lm pre-training in small, from several TFRecord files."""

from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import json
import os
import random
import tensorflow as tf
from tensorflow.contrib import tpu as contrib_tpu

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("input_file", "pretrain/part-*.tfrecord", "Input TF example files (can be a glob or comma separated).")
flags.DEFINE_string("output_dir", None, "The output directory where the model checkpoints will be written.")
flags.DEFINE_integer("max_predictions_per_seq", 2, "Maximum number of masked LM predictions per sequence.")
flags.DEFINE_bool("use_tpu", False, "")

LENGTH, HIDDEN, VOCAB = 8, 6, 16


def write_instances():
    tf.gfile.MakeDirs("pretrain")
    rng = random.Random(12345)
    for part in range(2):
        with tf.python_io.TFRecordWriter("pretrain/part-%05d.tfrecord" % part) as writer:
            for _ in range(8):
                ids = [rng.randrange(2, VOCAB) for _ in range(LENGTH)]
                positions = sorted(rng.sample(range(LENGTH), 2))
                labels = [ids[p] for p in positions]
                for p in positions:
                    ids[p] = 1
                ints = lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=v))
                floats = lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=v))
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "input_ids": ints(ids), "masked_lm_positions": ints(positions), "masked_lm_ids": ints(labels),
                    "masked_lm_weights": floats([1.0, float(rng.random() > 0.3)]),
                    "next_sentence_labels": ints([rng.randrange(2)])})).SerializeToString())


def gather_indexes(sequence_tensor, positions):
    """Gathers the vectors at the specific positions over a minibatch."""
    batch_size, seq_length, width = tf.shape(sequence_tensor)[0], LENGTH, HIDDEN
    flat_offsets = tf.reshape(tf.range(0, batch_size, dtype=tf.int32) * seq_length, [-1, 1])
    flat_positions = tf.reshape(positions + flat_offsets, [-1])
    return tf.gather(tf.reshape(sequence_tensor, [batch_size * seq_length, width]), flat_positions)


def get_masked_lm_output(input_tensor, output_weights, positions, label_ids, label_weights):
    input_tensor = gather_indexes(input_tensor, positions)
    with tf.variable_scope("cls/predictions"):
        with tf.variable_scope("transform"):
            input_tensor = tf.layers.dense(input_tensor, units=HIDDEN, activation=tf.nn.tanh,
                                           kernel_initializer=tf.truncated_normal_initializer(stddev=0.2, seed=8))
            input_tensor = tf.contrib.layers.layer_norm(input_tensor, begin_norm_axis=-1, begin_params_axis=-1)
        output_bias = tf.get_variable("output_bias", shape=[VOCAB], initializer=tf.zeros_initializer())
        logits = tf.nn.bias_add(tf.matmul(input_tensor, output_weights, transpose_b=True), output_bias)
        log_probs = tf.nn.log_softmax(logits, axis=-1)
        label_ids, label_weights = tf.reshape(label_ids, [-1]), tf.reshape(label_weights, [-1])
        per_example_loss = -tf.reduce_sum(log_probs * tf.one_hot(label_ids, depth=VOCAB, dtype=tf.float32), axis=[-1])
        loss = tf.reduce_sum(label_weights * per_example_loss) / (tf.reduce_sum(label_weights) + 1e-5)
    return loss, per_example_loss, log_probs


def model_fn(features, labels, mode, params):
    init = tf.truncated_normal_initializer(stddev=0.2, seed=4)
    table = tf.get_variable("bert/embeddings/word_embeddings", [VOCAB, HIDDEN], initializer=init)
    cell = tf.nn.rnn_cell.GRUCell(HIDDEN, kernel_initializer=init, name="gru")
    sequence, last = tf.nn.dynamic_rnn(cell, tf.gather(table, features["input_ids"]), dtype=tf.float32)
    masked_loss, masked_per_example, masked_log_probs = get_masked_lm_output(
        sequence, table, features["masked_lm_positions"], features["masked_lm_ids"], features["masked_lm_weights"])
    with tf.variable_scope("cls/seq_relationship"):
        weights = tf.get_variable("output_weights", shape=[2, HIDDEN], initializer=init)
        next_logits = tf.matmul(last, weights, transpose_b=True)
    next_labels = tf.reshape(features["next_sentence_labels"], [-1])
    next_per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=next_labels, logits=next_logits)
    total_loss = masked_loss + tf.reduce_mean(next_per_example)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdamOptimizer(tf.train.exponential_decay(0.02, tf.train.get_global_step(), 4, 0.9, staircase=True))
        if FLAGS.use_tpu:
            optimizer = contrib_tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(total_loss, tf.train.get_global_step())
        gs_t = tf.reshape(tf.train.get_global_step(), [1])
        loss_t = tf.reshape(total_loss, [1])

        def host_call_fn(gs, loss):
            with tf.contrib.summary.create_file_writer(os.path.join(FLAGS.output_dir, "host"), max_queue=1000).as_default():
                with tf.contrib.summary.always_record_summaries():
                    tf.contrib.summary.scalar("loss", loss[0], step=gs[0])
                    return tf.contrib.summary.all_summary_ops()

        return contrib_tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, train_op=train_op, host_call=(host_call_fn, [gs_t, loss_t]))

    def metric_fn(masked_per_example, masked_log_probs, masked_ids, masked_weights, next_per_example, next_logits, next_labels):
        masked_predictions = tf.argmax(tf.reshape(masked_log_probs, [-1, VOCAB]), axis=-1, output_type=tf.int32)
        flat_ids, flat_weights = tf.reshape(masked_ids, [-1]), tf.reshape(masked_weights, [-1])
        return {
            "masked_lm_accuracy": tf.metrics.accuracy(labels=flat_ids, predictions=masked_predictions, weights=flat_weights),
            "masked_lm_loss": tf.metrics.mean(values=tf.reshape(masked_per_example, [-1]), weights=flat_weights),
            "next_sentence_accuracy": tf.metrics.accuracy(next_labels, tf.argmax(next_logits, axis=-1, output_type=tf.int32)),
            "next_sentence_loss": tf.metrics.mean(values=next_per_example)}

    return contrib_tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, eval_metrics=(metric_fn, [
        masked_per_example, masked_log_probs, features["masked_lm_ids"], features["masked_lm_weights"], next_per_example, next_logits, next_labels]))


def input_fn_builder(input_files, max_predictions_per_seq, is_training, num_cpu_threads=4):
    def input_fn(params):
        name_to_features = {
            "input_ids": tf.FixedLenFeature([LENGTH], tf.int64),
            "masked_lm_positions": tf.FixedLenFeature([max_predictions_per_seq], tf.int64),
            "masked_lm_ids": tf.FixedLenFeature([max_predictions_per_seq], tf.int64),
            "masked_lm_weights": tf.FixedLenFeature([max_predictions_per_seq], tf.float32),
            "next_sentence_labels": tf.FixedLenFeature([1], tf.int64)}
        if is_training:
            d = tf.data.Dataset.from_tensor_slices(tf.constant(input_files))
            d = d.repeat()
            d = d.apply(tf.contrib.data.parallel_interleave(tf.data.TFRecordDataset, sloppy=False, cycle_length=min(num_cpu_threads, len(input_files))))
        else:
            d = tf.data.TFRecordDataset(input_files)
        return d.apply(tf.contrib.data.map_and_batch(
            lambda record: {k: tf.to_int32(t) if t.dtype == tf.int64 else t for k, t in tf.parse_single_example(record, name_to_features).items()},
            batch_size=params["batch_size"], num_parallel_batches=num_cpu_threads, drop_remainder=True))

    return input_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    write_instances()
    input_files = []
    for input_pattern in FLAGS.input_file.split(","):
        input_files.extend(sorted(tf.gfile.Glob(input_pattern)))
    run_config = contrib_tpu.RunConfig(model_dir=FLAGS.output_dir, save_checkpoints_steps=5, keep_checkpoint_max=2,
                                       tpu_config=contrib_tpu.TPUConfig(iterations_per_loop=5))
    estimator = contrib_tpu.TPUEstimator(use_tpu=FLAGS.use_tpu, model_fn=model_fn, config=run_config, train_batch_size=4, eval_batch_size=4)
    estimator.train(input_fn=input_fn_builder(input_files, FLAGS.max_predictions_per_seq, True), max_steps=12)
    result = estimator.evaluate(input_fn=input_fn_builder(input_files, FLAGS.max_predictions_per_seq, False), steps=3)
    checkpoints = [os.path.basename(p) for p in tf.train.get_checkpoint_state(FLAGS.output_dir).all_model_checkpoint_paths]
    print(json.dumps({"result": {k: float(v) for k, v in result.items()}, "checkpoints": checkpoints}))


if __name__ == "__main__":
    flags.mark_flag_as_required("output_dir")
    tf.app.run()
