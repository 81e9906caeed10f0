"""Named entities: words through a table, a fused LSTM both ways, a CRF on top, Viterbi decoding, early stopping."""

import functools
import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
WORDS = "john mary lives works in at paris rome google the".split()
TAGS = ["O", "B-PER", "B-LOC", "B-ORG"]
KIND = {"john": 1, "mary": 1, "paris": 2, "rome": 2, "google": 3}


def write_vocabularies(folder):
    tf.gfile.MakeDirs(folder)
    for name, values in (("vocab.words.txt", WORDS), ("vocab.tags.txt", TAGS)):
        with tf.gfile.GFile(os.path.join(folder, name), "w") as f:
            f.write("\n".join(values) + "\n")


def generator_fn():
    random = np.random.RandomState(1)
    for _ in range(16):
        words = [WORDS[random.randint(len(WORDS))] for _ in range(random.randint(3, 6))] + ["unknown"]
        yield (words, len(words)), [TAGS[KIND.get(word, 0)] for word in words]


def input_fn(params=None, repeat=False):
    shapes = (([None], ()), [None])
    types = ((tf.string, tf.int32), tf.string)
    defaults = (("<pad>", 0), "O")
    dataset = tf.data.Dataset.from_generator(generator_fn, output_shapes=shapes, output_types=types)
    if repeat:
        dataset = dataset.repeat(params["epochs"])
    return dataset.padded_batch(params.get("batch_size", 8), shapes, defaults).prefetch(1)


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = features["words"], features["nwords"]
    words, nwords = features
    vocab_words = tf.contrib.lookup.index_table_from_file(params["words"], num_oov_buckets=params["num_oov_buckets"])
    vocab_tags = tf.contrib.lookup.index_table_from_file(params["tags"])
    word_ids = vocab_words.lookup(words)
    variable = tf.get_variable("embedding", [len(WORDS) + 1, params["dim"]], initializer=tf.glorot_uniform_initializer(seed=1))
    embeddings = tf.nn.embedding_lookup(variable, word_ids)

    t = tf.transpose(embeddings, perm=[1, 0, 2])
    with tf.variable_scope("lstm", initializer=tf.glorot_uniform_initializer(seed=2)):
        lstm_cell_fw = tf.contrib.rnn.LSTMBlockFusedCell(params["lstm_size"])
        lstm_cell_bw = tf.contrib.rnn.LSTMBlockFusedCell(params["lstm_size"])
        lstm_cell_bw = tf.contrib.rnn.TimeReversedFusedRNN(lstm_cell_bw)
        with tf.variable_scope("fw"):
            output_fw, _ = lstm_cell_fw(t, dtype=tf.float32, sequence_length=nwords)
        with tf.variable_scope("bw"):
            output_bw, _ = lstm_cell_bw(t, dtype=tf.float32, sequence_length=nwords)
    output = tf.transpose(tf.concat([output_fw, output_bw], axis=-1), perm=[1, 0, 2])

    logits = tf.layers.dense(output, len(TAGS), kernel_initializer=tf.glorot_uniform_initializer(seed=3))
    crf_params = tf.get_variable("crf", [len(TAGS), len(TAGS)], dtype=tf.float32, initializer=tf.zeros_initializer())
    pred_ids, _ = tf.contrib.crf.crf_decode(logits, crf_params, nwords)
    if mode == tf.estimator.ModeKeys.PREDICT:
        reverse = tf.contrib.lookup.index_to_string_table_from_file(params["tags"])
        predictions = {"pred_ids": pred_ids, "tags": reverse.lookup(tf.to_int64(pred_ids))}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    tags = vocab_tags.lookup(labels)
    log_likelihood, _ = tf.contrib.crf.crf_log_likelihood(logits, tags, nwords, crf_params)
    loss = tf.reduce_mean(-log_likelihood)
    weights = tf.sequence_mask(nwords)
    metrics = {"acc": tf.metrics.accuracy(tags, pred_ids, weights)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


if __name__ == "__main__":
    folder = sys.argv[1]
    write_vocabularies(folder)
    params = {
        "dim": 6, "epochs": 6, "batch_size": 8, "num_oov_buckets": 1, "lstm_size": 5,
        "words": os.path.join(folder, "vocab.words.txt"), "tags": os.path.join(folder, "vocab.tags.txt"),
    }
    train_inpf = functools.partial(input_fn, params, repeat=True)
    eval_inpf = functools.partial(input_fn, params)
    cfg = tf.estimator.RunConfig(save_checkpoints_steps=6)
    estimator = tf.estimator.Estimator(model_fn, os.path.join(folder, "model"), cfg, params)
    hook = tf.estimator.experimental.stop_if_no_increase_hook(estimator, "acc", 500, min_steps=8000, run_every_secs=120)
    train_spec = tf.estimator.TrainSpec(input_fn=train_inpf, hooks=[hook])
    eval_spec = tf.estimator.EvalSpec(input_fn=eval_inpf, throttle_secs=120)
    tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    metrics = estimator.evaluate(eval_inpf)
    rows = list(estimator.predict(eval_inpf))
    print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "tags": [tag.decode() for tag in rows[0]["tags"]],
                      "names": sorted(estimator.get_variable_names())}))
