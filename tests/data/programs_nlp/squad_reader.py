"""Run BERT-like reading comprehension: spans, RawResult, n-best predictions."""
from __future__ import absolute_import, division, print_function
import collections, json, math, os, random, six, sys
import numpy as np
import tensorflow as tf

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("output_dir", None, "where")
flags.DEFINE_integer("max_seq_length", 10, "length")
flags.DEFINE_integer("n_best_size", 3, "n best")
flags.DEFINE_float("learning_rate", 0.05, "rate")
flags.DEFINE_bool("verbose_logging", False, "If true, all of the warnings related to data processing will be printed.")

RawResult = collections.namedtuple("RawResult", ["unique_id", "start_logits", "end_logits"])
_PrelimPrediction = collections.namedtuple("PrelimPrediction", ["start_index", "end_index", "start_logit", "end_logit"])


class FeatureWriter(object):
    """Writes InputFeature to TF example file."""

    def __init__(self, filename, is_training):
        self.filename = filename
        self.is_training = is_training
        self.num_features = 0
        self._writer = tf.python_io.TFRecordWriter(filename)

    def process_feature(self, unique_id, input_ids, start, end):
        self.num_features += 1
        create_int_feature = lambda values: tf.train.Feature(int64_list=tf.train.Int64List(value=list(values)))
        features = collections.OrderedDict()
        features["unique_ids"] = create_int_feature([unique_id])
        features["input_ids"] = create_int_feature(input_ids)
        if self.is_training:
            features["start_positions"] = create_int_feature([start])
            features["end_positions"] = create_int_feature([end])
        tf_example = tf.train.Example(features=tf.train.Features(feature=features))
        self._writer.write(tf_example.SerializeToString())

    def close(self):
        self._writer.close()


def make_features(writer, count, seed):
    rng = random.Random(seed)
    for number in range(count):
        ids = [rng.randint(3, 19) for _ in range(FLAGS.max_seq_length)]
        start = rng.randint(1, FLAGS.max_seq_length - 3)
        ids[start], ids[start + 1] = 1, 2
        writer.process_feature(1000000000 + number, ids, start, start + 1)


def input_fn_builder(input_file, seq_length, is_training, drop_remainder):
    name_to_features = {"unique_ids": tf.FixedLenFeature([], tf.int64), "input_ids": tf.FixedLenFeature([seq_length], tf.int64)}
    if is_training:
        name_to_features["start_positions"] = tf.FixedLenFeature([], tf.int64)
        name_to_features["end_positions"] = tf.FixedLenFeature([], tf.int64)

    def _decode_record(record, name_to_features):
        example = tf.parse_single_example(record, name_to_features)
        for name in list(example.keys()):
            t = example[name]
            if t.dtype == tf.int64:
                t = tf.to_int32(t)
            example[name] = t
        return example

    def input_fn(params):
        batch_size = params["batch_size"]
        d = tf.data.TFRecordDataset(input_file)
        if is_training:
            d = d.repeat()
            d = d.shuffle(buffer_size=1, seed=1)
        d = d.apply(tf.contrib.data.map_and_batch(lambda record: _decode_record(record, name_to_features),
                                                  batch_size=batch_size, drop_remainder=drop_remainder))
        return d

    return input_fn


def create_model(input_ids, is_training):
    init = tf.truncated_normal_initializer(stddev=0.3, seed=5)
    table = tf.get_variable("embeddings", [20, 6], initializer=init)
    x = tf.nn.embedding_lookup(table, input_ids)
    x = tf.layers.conv1d(x, 8, 3, padding="same", activation=tf.nn.relu, kernel_initializer=init, name="conv")
    final_hidden_shape = x.get_shape().as_list()
    batch_size = tf.shape(x)[0]
    seq_length, hidden_size = final_hidden_shape[1], final_hidden_shape[2]
    output_weights = tf.get_variable("cls/squad/output_weights", [2, hidden_size], initializer=init)
    output_bias = tf.get_variable("cls/squad/output_bias", [2], initializer=tf.zeros_initializer())
    final_hidden_matrix = tf.reshape(x, [batch_size * seq_length, hidden_size])
    logits = tf.nn.bias_add(tf.matmul(final_hidden_matrix, output_weights, transpose_b=True), output_bias)
    logits = tf.transpose(tf.reshape(logits, [batch_size, seq_length, 2]), [2, 0, 1])
    unstacked_logits = tf.unstack(logits, axis=0)
    return (unstacked_logits[0], unstacked_logits[1])


def model_fn(features, labels, mode, params):
    unique_ids = features["unique_ids"]
    (start_logits, end_logits) = create_model(features["input_ids"], mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.TRAIN:
        seq_length = features["input_ids"].shape[1].value

        def compute_loss(logits, positions):
            one_hot_positions = tf.one_hot(positions, depth=seq_length, dtype=tf.float32)
            log_probs = tf.nn.log_softmax(logits, axis=-1)
            return -tf.reduce_mean(tf.reduce_sum(one_hot_positions * log_probs, axis=-1))

        total_loss = (compute_loss(start_logits, features["start_positions"]) + compute_loss(end_logits, features["end_positions"])) / 2.0
        train_op = tf.train.AdamOptimizer(FLAGS.learning_rate).minimize(total_loss, global_step=tf.train.get_global_step())
        return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=total_loss, train_op=train_op)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"unique_ids": unique_ids, "start_logits": start_logits, "end_logits": end_logits}
        return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, predictions=predictions)
    raise ValueError("Only TRAIN and PREDICT modes are supported: %s" % (mode))


def _get_best_indexes(logits, n_best_size):
    index_and_score = sorted(enumerate(logits), key=lambda x: x[1], reverse=True)
    return [pair[0] for pair in index_and_score[:n_best_size]]


def write_predictions(all_results, path):
    nbest = collections.OrderedDict()
    for result in all_results:
        prelim = []
        for start_index in _get_best_indexes(result.start_logits, FLAGS.n_best_size):
            for end_index in _get_best_indexes(result.end_logits, FLAGS.n_best_size):
                if end_index < start_index or end_index - start_index + 1 > 4:
                    continue
                prelim.append(_PrelimPrediction(start_index, end_index, result.start_logits[start_index], result.end_logits[end_index]))
        prelim = sorted(prelim, key=lambda x: (x.start_logit + x.end_logit), reverse=True)
        nbest[str(result.unique_id)] = [[p.start_index, p.end_index, round(p.start_logit + p.end_logit, 4)] for p in prelim[:2]]
    with tf.gfile.GFile(path, "w") as writer:
        writer.write(json.dumps(nbest, indent=4) + "\n")
    return nbest


def main(_):
    tf.logging.set_verbosity(tf.logging.WARN)
    tf.gfile.MakeDirs(FLAGS.output_dir)
    estimator = tf.contrib.tpu.TPUEstimator(
        use_tpu=False, model_fn=model_fn, train_batch_size=8, predict_batch_size=4,
        config=tf.contrib.tpu.RunConfig(model_dir=FLAGS.output_dir, tf_random_seed=2, log_step_count_steps=10,
                                        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=10, num_shards=None)))
    train_writer = FeatureWriter(filename=os.path.join(FLAGS.output_dir, "train.tf_record"), is_training=True)
    make_features(train_writer, 24, 12345)
    train_writer.close()
    estimator.train(input_fn=input_fn_builder(train_writer.filename, FLAGS.max_seq_length, True, True), max_steps=40)
    eval_writer = FeatureWriter(filename=os.path.join(FLAGS.output_dir, "eval.tf_record"), is_training=False)
    make_features(eval_writer, 6, 7)
    eval_writer.close()
    all_results = []
    for result in estimator.predict(input_fn_builder(eval_writer.filename, FLAGS.max_seq_length, False, False), yield_single_examples=True):
        if len(all_results) % 1000 == 0:
            tf.logging.info("Processing example: %d" % (len(all_results)))
        unique_id = int(result["unique_ids"])
        start_logits = [float(x) for x in result["start_logits"].flat]
        end_logits = [float(x) for x in result["end_logits"].flat]
        all_results.append(RawResult(unique_id=unique_id, start_logits=start_logits, end_logits=end_logits))
    print(json.dumps({"features": train_writer.num_features, "nbest": write_predictions(all_results, os.path.join(FLAGS.output_dir, "nbest.json"))}))


if __name__ == "__main__":
    flags.mark_flag_as_required("output_dir")
    tf.app.run()
