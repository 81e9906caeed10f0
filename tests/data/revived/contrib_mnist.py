"""A network of tf.contrib.layers with arg_scope and optimize_loss, as tutorials of 2016 and 2017 had it."""

import json
import sys

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers
from tensorflow.contrib.framework import arg_scope
from tensorflow.contrib.layers import xavier_initializer

tf.logging.set_verbosity(tf.logging.ERROR)


def conv_model(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    x = tf.reshape(features["x"], [-1, 8, 8, 1])
    with arg_scope(
        [layers.conv2d, layers.fully_connected], weights_initializer=xavier_initializer(seed=3),
        weights_regularizer=layers.l2_regularizer(0.01), normalizer_fn=layers.batch_norm,
        normalizer_params={"is_training": training, "decay": 0.9, "updates_collections": tf.GraphKeys.UPDATE_OPS},
    ):
        net = layers.conv2d(x, 4, [3, 3], scope="conv1")
        net = layers.max_pool2d(net, 2, scope="pool1")
        net = layers.conv2d(net, 6, [3, 3], activation_fn=tf.nn.elu, scope="conv2")
        net = layers.flatten(net)
        net = layers.fully_connected(net, 8, scope="fc1")
    net = layers.dropout(net, keep_prob=1.0, is_training=training)
    logits = layers.fully_connected(net, 3, activation_fn=None, weights_initializer=xavier_initializer(seed=4), scope="logits")
    predictions = {"class": tf.argmax(logits, 1), "prob": layers.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions)
    onehot = layers.one_hot_encoding(labels, 3)
    loss = tf.losses.softmax_cross_entropy(onehot, logits)
    regular = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    train_op = layers.optimize_loss(
        loss + regular, tf.contrib.framework.get_global_step(), learning_rate=0.1, optimizer="SGD", clip_gradients=2.0,
        learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 5, 0.8),
        summaries=["loss", "gradients"],
    )
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, predictions["class"]),
        "streamed": tf.contrib.metrics.streaming_accuracy(predictions["class"], labels),
    }
    return tf.estimator.EstimatorSpec(mode, predictions, loss + regular, train_op, metrics)


def input_fn(epochs):
    random = np.random.RandomState(0)
    labels = (np.arange(24) % 3).astype(np.int64)
    images = random.uniform(0, 1, [24, 64]).astype(np.float32) + labels[:, None].astype(np.float32) * 0.3
    return tf.estimator.inputs.numpy_input_fn({"x": images}, labels, batch_size=12, num_epochs=epochs, shuffle=False)


classifier = tf.estimator.Estimator(conv_model, sys.argv[1], params={})
classifier.train(input_fn(None), steps=10)
metrics = classifier.evaluate(input_fn(1))
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "names": sorted(classifier.get_variable_names()),
                  "mean": classifier.get_variable_value("conv1/BatchNorm/moving_mean").tolist()}))
