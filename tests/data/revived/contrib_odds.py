"""Smaller parts of contrib that programs lean on: rnn cells by name, HParams, streaming metrics, framework, summary of stops."""

import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib import rnn
from tensorflow.contrib.rnn import BasicLSTMCell, DropoutWrapper, MultiRNNCell
from tensorflow.contrib.training import HParams

tf.logging.set_verbosity(tf.logging.ERROR)
hparams = HParams(units=4, rate=0.05, cells=2, name="odds").parse("rate=0.1,units=5")


def model_fn(features, labels, mode, params):
    x = tf.unstack(features["x"], 3, 1)
    cells = [DropoutWrapper(BasicLSTMCell(params.units), output_keep_prob=1.0) for _ in range(params.cells)]
    with tf.variable_scope("rnn", initializer=tf.contrib.layers.xavier_initializer(seed=5)):
        outputs, _ = rnn.static_rnn(MultiRNNCell(cells), x, dtype=tf.float32)
        both, _, _ = rnn.static_bidirectional_rnn(rnn.GRUCell(2), rnn.LSTMCell(2), outputs, dtype=tf.float32)
    net = tf.contrib.layers.layer_norm(both[-1])
    logits = tf.contrib.layers.fully_connected(
        net, 1, activation_fn=None, weights_initializer=tf.contrib.layers.variance_scaling_initializer(seed=6))[:, 0]
    loss = tf.losses.hinge_loss(labels, logits)
    train_op = tf.train.AdamOptimizer(params.rate).minimize(loss, tf.contrib.framework.get_or_create_global_step())
    predicted = tf.to_int32(logits > 0)
    metrics = {
        "auc": tf.contrib.metrics.streaming_auc(tf.sigmoid(logits), labels),
        "mean": tf.contrib.metrics.streaming_mean(logits),
        "accuracy": tf.contrib.metrics.streaming_accuracy(predicted, tf.to_int32(labels)),
    }
    return tf.estimator.EstimatorSpec(mode, {"logits": logits}, loss, train_op, metrics)


def input_fn(epochs=1):
    x = np.random.RandomState(4).randn(16, 3, 2).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, (x.sum((1, 2)) > 0).astype(np.float32)))
    dataset = dataset.apply(tf.contrib.data.shuffle_and_repeat(1, epochs))
    return dataset.apply(tf.contrib.data.batch_and_drop_remainder(8))


estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params=hparams)
estimator = tf.contrib.estimator.add_metrics(
    estimator, lambda labels, predictions: {"positives": tf.metrics.mean(tf.to_float(predictions["logits"] > 0))})
estimator.train(lambda: input_fn(None), steps=8)
metrics = estimator.evaluate(input_fn)
kernel = tf.contrib.framework.load_variable(sys.argv[1], "rnn/rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel")
names = [name for name, _ in tf.contrib.framework.list_variables(sys.argv[1]) if "Adam" not in name]
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "kernel": float(np.abs(kernel).sum()), "names": names,
                  "hparams": hparams.values()}, sort_keys=True))
