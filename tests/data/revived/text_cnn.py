"""Sentence classification with convolutions over word embeddings (Kim 2014), vocabulary from a file, exported for serving."""

import argparse
import json
import os

import numpy as np
import tensorflow as tf

VOCABULARY = "good great fine nice lovely bad awful poor sad dull the a film was very".split()


def write_files(folder):
    tf.gfile.MakeDirs(folder)
    with tf.gfile.Open(os.path.join(folder, "vocab.txt"), "w") as out:
        out.write("\n".join(["<pad>"] + VOCABULARY) + "\n")
    random = np.random.RandomState(0)
    with tf.gfile.GFile(os.path.join(folder, "train.tsv"), "w") as out:
        for _ in range(40):
            label = random.randint(2)
            words = [VOCABULARY[5 * (1 - label) + random.randint(5)]] + [VOCABULARY[random.randint(10, 15)] for _ in range(4)]
            out.write("%d\t%s\n" % (label, " ".join(random.permutation(words))))


def parse_line(line):
    fields = tf.string_split([line], "\t").values
    words = tf.string_split([fields[1]], " ").values
    return {"words": words, "count": tf.size(words)}, tf.string_to_number(fields[0], tf.int32)


def input_fn(path, batch_size, repeat):
    dataset = tf.data.TextLineDataset(path).map(parse_line)
    if repeat:
        dataset = dataset.repeat()
    shapes = ({"words": [None], "count": []}, [])
    defaults = ({"words": "<pad>", "count": 0}, 0)
    return dataset.padded_batch(batch_size, shapes, defaults).prefetch(1)


def model_fn(features, labels, mode, params):
    with open(params["vocab"]) as file:
        words = [line.strip() for line in file]
    ids = tf.map_fn(lambda row: table_lookup(row, words), features["words"], dtype=tf.int32)
    with tf.variable_scope("embed", initializer=tf.random_uniform_initializer(-1, 1, seed=1)):
        embedding = tf.get_variable("embedding", [len(words), params["dim"]])
    embedded = tf.nn.embedding_lookup(embedding, ids)
    pooled = []
    for number, size in enumerate(params["filter_sizes"]):
        with tf.variable_scope("conv-%d" % size, initializer=tf.truncated_normal_initializer(stddev=0.1, seed=number)):
            conv = tf.layers.conv1d(embedded, params["filters"], size, padding="same", activation=tf.nn.relu)
            pooled.append(tf.reduce_max(conv, axis=1))
    net = tf.concat(pooled, axis=-1)
    net = tf.layers.dropout(net, 0.0, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(net, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=9), name="output")
    predictions = {"class": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        outputs = {"serving_default": tf.estimator.export.PredictOutput(predictions)}
        return tf.estimator.EstimatorSpec(mode, predictions, export_outputs=outputs)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    l2 = params["l2"] * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "bias" not in v.name])
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss + l2, tf.train.get_or_create_global_step())
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, predictions["class"]),
        "precision": tf.metrics.precision(labels, predictions["class"]),
        "recall": tf.metrics.recall(labels, predictions["class"]),
    }
    for name, (_, update) in sorted(metrics.items()):
        tf.summary.scalar(name, update)
    return tf.estimator.EstimatorSpec(mode, loss=loss + l2, train_op=train_op, eval_metric_ops=metrics)


def table_lookup(row, words):
    equal = tf.equal(tf.expand_dims(row, 1), tf.constant([words]))
    return tf.argmax(tf.cast(equal, tf.int32), axis=1, output_type=tf.int32)


def serving_input_fn():
    words = tf.placeholder(tf.string, [None, None], name="words")
    return tf.estimator.export.ServingInputReceiver({"words": words}, {"words": words})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", dest="job_dir", required=True)
    args = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.ERROR)
    write_files(args.job_dir)
    params = {"vocab": os.path.join(args.job_dir, "vocab.txt"), "dim": 8, "filter_sizes": [2, 3], "filters": 4, "l2": 1e-3}
    train = os.path.join(args.job_dir, "train.tsv")
    config = tf.estimator.RunConfig(tf_random_seed=7, save_checkpoints_steps=10)
    estimator = tf.estimator.Estimator(model_fn, os.path.join(args.job_dir, "model"), config, params)
    spec = tf.estimator.TrainSpec(lambda: input_fn(train, 10, True), max_steps=20)
    evaluation = tf.estimator.EvalSpec(lambda: input_fn(train, 10, False), steps=None, throttle_secs=0)
    tf.estimator.train_and_evaluate(estimator, spec, evaluation)
    result = estimator.evaluate(lambda: input_fn(train, 10, False))
    exported = estimator.export_savedmodel(os.path.join(args.job_dir, "export"), serving_input_fn)
    print(json.dumps({"result": {k: float(v) for k, v in result.items()}, "exported": os.path.isdir(exported)}))
