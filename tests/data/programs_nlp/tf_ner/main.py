"""GloVe embeddings + bi-LSTM + CRF with tf.estimator and tf.data."""

__author__ = "someone"

import functools
import json
import logging
from pathlib import Path
import sys

import numpy as np
import tensorflow as tf

from .metrics import precision, recall, f1
from .model.data import build


def parse_fn(line_words, line_tags):
    words = [w.encode() for w in line_words.strip().split()]
    tags = [t.encode() for t in line_tags.strip().split()]
    assert len(words) == len(tags), "Words and tags lengths don't match"
    chars = [[c.encode() for c in w] for w in line_words.strip().split()]
    lengths = [len(c) for c in chars]
    max_len = max(lengths)
    chars = [c + [b"<pad>"] * (max_len - l) for c, l in zip(chars, lengths)]
    return ((words, len(words)), (chars, lengths)), tags


def generator_fn(words, tags):
    with Path(words).open("r") as f_words, Path(tags).open("r") as f_tags:
        for line_words, line_tags in zip(f_words, f_tags):
            yield parse_fn(line_words, line_tags)


def input_fn(words, tags, params=None, shuffle_and_repeat=False):
    params = params if params is not None else {}
    shapes = ((([None], ()), ([None, None], [None])), [None])
    types = (((tf.string, tf.int32), (tf.string, tf.int32)), tf.string)
    defaults = ((("<pad>", 0), ("<pad>", 0)), "O")
    dataset = tf.data.Dataset.from_generator(functools.partial(generator_fn, words, tags), output_shapes=shapes, output_types=types)
    if shuffle_and_repeat:
        dataset = dataset.repeat(params["epochs"])
    return dataset.padded_batch(params.get("batch_size", 20), shapes, defaults).prefetch(1)


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = ((features["words"], features["nwords"]), (features["chars"], features["nchars"]))
    (words, nwords), (chars, nchars) = features
    training = (mode == tf.estimator.ModeKeys.TRAIN)
    vocab_words = tf.contrib.lookup.index_table_from_file(params["words"], num_oov_buckets=params["num_oov_buckets"])
    vocab_chars = tf.contrib.lookup.index_table_from_file(params["chars"], num_oov_buckets=params["num_oov_buckets"])
    with Path(params["tags"]).open() as f:
        indices = [idx for idx, tag in enumerate(f) if tag.strip() != "O"]
        num_tags = len(indices) + 1

    char_ids = vocab_chars.lookup(chars)
    variable = tf.get_variable("chars_embeddings", [32, 4], tf.float32, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1))
    char_embeddings = tf.layers.dropout(tf.nn.embedding_lookup(variable, char_ids), rate=params["dropout"], training=training, seed=5)
    weights = tf.sequence_mask(nchars)
    weights = tf.to_float(tf.expand_dims(weights, -1))
    char_embeddings = tf.reduce_max(char_embeddings * weights + (1. - weights) * tf.reduce_min(char_embeddings, axis=-2, keepdims=True), axis=-2)

    word_ids = vocab_words.lookup(words)
    glove = np.load(params["glove"])["embeddings"]
    variable = np.vstack([glove, [[0.] * params["dim"]]])
    variable = tf.Variable(variable, dtype=tf.float32, trainable=False)
    embeddings = tf.concat([tf.nn.embedding_lookup(variable, word_ids), char_embeddings], axis=-1)

    t = tf.transpose(embeddings, perm=[1, 0, 2])
    with tf.variable_scope("lstm", initializer=tf.glorot_uniform_initializer(seed=4)):
        lstm_cell_fw = tf.contrib.rnn.LSTMBlockFusedCell(params["lstm_size"])
        lstm_cell_bw = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(params["lstm_size"]))
        output_fw, _ = lstm_cell_fw(t, dtype=tf.float32, sequence_length=nwords)
        with tf.variable_scope("bw"):
            output_bw, _ = lstm_cell_bw(t, dtype=tf.float32, sequence_length=nwords)
    output = tf.transpose(tf.concat([output_fw, output_bw], axis=-1), perm=[1, 0, 2])

    logits = tf.layers.dense(output, num_tags, kernel_initializer=tf.glorot_uniform_initializer(seed=6))
    crf_params = tf.get_variable("crf", [num_tags, num_tags], dtype=tf.float32, initializer=tf.zeros_initializer())
    pred_ids, _ = tf.contrib.crf.crf_decode(logits, crf_params, nwords)
    reverse_vocab_tags = tf.contrib.lookup.index_to_string_table_from_file(params["tags"])
    pred_strings = reverse_vocab_tags.lookup(tf.to_int64(pred_ids))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"pred_ids": pred_ids, "tags": pred_strings, "nwords": nwords})
    vocab_tags = tf.contrib.lookup.index_table_from_file(params["tags"])
    tags = vocab_tags.lookup(labels)
    log_likelihood, _ = tf.contrib.crf.crf_log_likelihood(logits, tags, nwords, crf_params)
    loss = tf.reduce_mean(-log_likelihood)
    mask = tf.sequence_mask(nwords)
    metrics = {
        "acc": tf.metrics.accuracy(tags, pred_ids, mask),
        "precision": precision(tags, pred_ids, num_tags, indices, mask),
        "recall": recall(tags, pred_ids, num_tags, indices, mask),
        "f1": f1(tags, pred_ids, num_tags, indices, mask),
    }
    for metric_name, op in metrics.items():
        tf.summary.scalar(metric_name, op[1])
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


if __name__ == "__main__":
    tf.logging.set_verbosity(logging.ERROR)
    data = build("ner_data")
    params = {"dim": 5, "dropout": 0.0, "num_oov_buckets": 1, "epochs": 8, "batch_size": 6, "lstm_size": 6,
              "words": str(data / "vocab.words.txt"), "chars": str(data / "vocab.chars.txt"),
              "tags": str(data / "vocab.tags.txt"), "glove": str(data / "glove.npz")}
    results = Path(sys.argv[1])
    results.mkdir(parents=True, exist_ok=True)
    with (results / "params.json").open("w") as f:
        json.dump(params, f, indent=4, sort_keys=True)

    fwords, ftags = (lambda name: str(data / "{}.words.txt".format(name))), (lambda name: str(data / "{}.tags.txt".format(name)))
    train_inpf = functools.partial(input_fn, fwords("train"), ftags("train"), params, shuffle_and_repeat=True)
    eval_inpf = functools.partial(input_fn, fwords("testa"), ftags("testa"))
    cfg = tf.estimator.RunConfig(save_checkpoints_secs=120, tf_random_seed=3)
    estimator = tf.estimator.Estimator(model_fn, str(results / "model"), cfg, params)
    Path(estimator.eval_dir()).mkdir(parents=True, exist_ok=True)
    hook = tf.estimator.experimental.stop_if_no_increase_hook(estimator, "f1", 500, min_steps=8000, run_every_secs=120)
    train_spec = tf.estimator.TrainSpec(input_fn=train_inpf, hooks=[hook])
    eval_spec = tf.estimator.EvalSpec(input_fn=eval_inpf, throttle_secs=120)
    metrics, _ = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    preds = [b" ".join(p["tags"][:p["nwords"]]).decode() for p in estimator.predict(eval_inpf)]
    print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "preds": preds[:3]}))
