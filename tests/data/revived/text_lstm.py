"""Sentiment with a bidirectional LSTM over variable lengths: dynamic_rnn, MultiRNNCell, DropoutWrapper, gradient clipping."""

import json

import numpy as np
import tensorflow as tf

flags = tf.flags
flags.DEFINE_string("model_dir", None, "Base directory for the model.")
flags.DEFINE_integer("num_units", 6, "Units of a cell.")
flags.DEFINE_float("learning_rate", 0.05, "Learning rate.")
flags.DEFINE_bool("use_attention", True, "Whether to attend.")
FLAGS = flags.FLAGS


def cell(units, seed, keep_prob):
    lstm = tf.nn.rnn_cell.LSTMCell(units, initializer=tf.glorot_uniform_initializer(seed=seed), use_peepholes=True)
    return tf.nn.rnn_cell.DropoutWrapper(lstm, output_keep_prob=keep_prob)


def lstm_model_fn(features, labels, mode, params):
    embedding = tf.get_variable("embedding", [20, 5], initializer=tf.random_normal_initializer(stddev=0.3, seed=1))
    inputs = tf.nn.embedding_lookup(embedding, features["tokens"])
    (forward, backward), states = tf.nn.bidirectional_dynamic_rnn(
        cell(FLAGS.num_units, 2, 1.0), cell(FLAGS.num_units, 3, 1.0), inputs, sequence_length=features["length"], dtype=tf.float32
    )
    stacked = tf.nn.rnn_cell.MultiRNNCell(
        [tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.glorot_uniform_initializer(seed=4 + i)) for i in range(2)]
    )
    outputs, last = tf.nn.dynamic_rnn(stacked, tf.concat([forward, backward], 2), features["length"], dtype=tf.float32)
    if FLAGS.use_attention:
        scores = tf.layers.dense(outputs, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=8), name="attention")
        mask = tf.sequence_mask(features["length"], tf.shape(outputs)[1], dtype=tf.float32)
        weights = tf.nn.softmax(scores[:, :, 0] + (1.0 - mask) * -1e9)
        net = tf.reduce_sum(outputs * tf.expand_dims(weights, 2), 1)
    else:
        net = last[-1]
    net = tf.concat([net, states[0].h], 1)
    logits = tf.layers.dense(net, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=9))[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"score": tf.sigmoid(logits)})
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    optimizer = tf.train.AdamOptimizer(params["learning_rate"])
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    tf.summary.scalar("norm", norm)
    train_op = optimizer.apply_gradients(zip(gradients, variables), global_step=tf.train.get_global_step())
    metrics = {"auc": tf.metrics.auc(labels, tf.sigmoid(logits)), "accuracy": tf.metrics.accuracy(labels, tf.round(tf.sigmoid(logits)))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def generator():
    random = np.random.RandomState(11)
    for _ in range(24):
        length = random.randint(2, 7)
        tokens = random.randint(0, 20, length)
        yield {"tokens": tokens, "length": length}, float((tokens < 10).mean() > 0.5)


def input_fn(repeat=False):
    dataset = tf.data.Dataset.from_generator(
        generator, ({"tokens": tf.int64, "length": tf.int32}, tf.float32), ({"tokens": [None], "length": []}, [])
    )
    dataset = dataset.cache().repeat() if repeat else dataset
    return dataset.padded_batch(8, ({"tokens": [None], "length": []}, [])).make_one_shot_iterator().get_next()


def main(unused_argv):
    tf.logging.set_verbosity(tf.logging.ERROR)
    run_config = tf.estimator.RunConfig(model_dir=FLAGS.model_dir, tf_random_seed=3)
    classifier = tf.estimator.Estimator(lstm_model_fn, config=run_config, params={"learning_rate": FLAGS.learning_rate})
    classifier.train(lambda: input_fn(True), steps=12)
    metrics = classifier.evaluate(input_fn)
    scores = [float(row["score"]) for row in classifier.predict(input_fn)]
    print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "scores": scores[:4],
                      "names": sorted(classifier.get_variable_names())}))


if __name__ == "__main__":
    tf.app.run()
