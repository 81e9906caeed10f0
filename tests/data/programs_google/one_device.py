"""Distribution strategies over one device with an estimator (TensorFlow 1.14): MirroredStrategy, OneDeviceStrategy."""
from __future__ import print_function

import json

import tensorflow as tf


def model_fn(features, labels, mode):
    layer = tf.layers.Dense(1, kernel_initializer=tf.zeros_initializer())
    logits = layer(features)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.mean_squared_error(labels=labels, predictions=tf.reshape(logits, []))
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, tf.reshape(logits, []))})
    train_op = tf.train.GradientDescentOptimizer(0.2).minimize(loss, global_step=tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    features = tf.data.Dataset.from_tensors([[1.]]).repeat(12)
    labels = tf.data.Dataset.from_tensors(1.).repeat(12)
    return tf.data.Dataset.zip((features, labels))


def main(_):
    out = {}
    strategies = [
        ('none', None), ('mirrored', tf.distribute.MirroredStrategy(devices=['/device:CPU:0'])),
        ('one', tf.contrib.distribute.OneDeviceStrategy(device='/cpu:0')),
        ('contrib', tf.contrib.distribute.MirroredStrategy(['/cpu:0'])),
    ]
    for name, strategy in strategies:
        config = tf.estimator.RunConfig(train_distribute=strategy, eval_distribute=strategy)
        est = tf.estimator.Estimator(model_fn=model_fn, config=config)
        est.train(input_fn=input_fn, steps=8)
        got = est.evaluate(input_fn=input_fn)
        predictions = [p['logits'].tolist() for p in est.predict(lambda: tf.data.Dataset.from_tensors([[2.]]))]
        out[name] = [{k: float(v) for k, v in got.items()}, predictions, est.get_variable_value('dense/kernel').tolist()]
    print(json.dumps(out))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.app.run()
