"""A network by slim: arg_scope, repeat, stack, end_points, losses and streaming metrics, in an Estimator."""

import json
import sys

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim

tf.logging.set_verbosity(tf.logging.ERROR)


def arg_scope(weight_decay=0.01):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected], activation_fn=tf.nn.relu, weights_regularizer=slim.l2_regularizer(weight_decay),
        weights_initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1), biases_initializer=tf.zeros_initializer(),
    ):
        with slim.arg_scope([slim.conv2d], padding="SAME") as scope:
            return scope


def network(inputs, classes, is_training, scope="small_vgg"):
    with tf.variable_scope(scope, "small_vgg", [inputs]) as sc:
        collection = sc.original_name_scope + "_end_points"
        with slim.arg_scope([slim.conv2d, slim.fully_connected, slim.max_pool2d], outputs_collections=collection):
            net = slim.repeat(inputs, 2, slim.conv2d, 4, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
            net = slim.flatten(net)
            net = slim.stack(net, slim.fully_connected, [8, 6], scope="fc")
            net = slim.dropout(net, 1.0, is_training=is_training, scope="dropout")
            net = slim.fully_connected(net, classes, activation_fn=None, scope="logits")
            return net, slim.utils.convert_collection_to_dict(collection)


def model_fn(features, labels, mode):
    with slim.arg_scope(arg_scope()):
        logits, end_points = network(features["x"], 3, mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"logits": logits, "pool": end_points["small_vgg/pool1"]})
    slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding(labels, 3))
    total = slim.losses.get_total_loss()
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    train_op = slim.learning.create_train_op(total, optimizer, global_step=tf.train.get_global_step())
    metrics = {"accuracy": slim.metrics.streaming_accuracy(tf.argmax(logits, 1), labels)}
    return tf.estimator.EstimatorSpec(mode, loss=total, train_op=train_op, eval_metric_ops=metrics)


def input_fn(epochs):
    random = np.random.RandomState(2)
    labels = np.arange(12) % 3
    images = (random.uniform(0, 1, [12, 6, 6, 1]) + labels.reshape([-1, 1, 1, 1])).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": images}, labels)).repeat(epochs).batch(6)


estimator = tf.estimator.Estimator(model_fn, sys.argv[1])
estimator.train(lambda: input_fn(None), steps=8)
metrics = estimator.evaluate(lambda: input_fn(1))
row = next(estimator.predict(lambda: input_fn(1)))
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()}, "logits": row["logits"].tolist(), "pool": list(row["pool"].shape),
                  "names": sorted(name for name in estimator.get_variable_names() if "Momentum" not in name)}))
