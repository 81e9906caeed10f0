"""Deep & Cross over feature columns: input_layer, cross layers by get_variable, Ftrl and Adagrad, an EvalSpec with an exporter."""

import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
fc = tf.feature_column


def columns():
    city = fc.categorical_column_with_vocabulary_list("city", ["rome", "paris", "oslo"])
    device = fc.categorical_column_with_hash_bucket("device", 10)
    age = fc.numeric_column("age", normalizer_fn=lambda x: (x - 40.0) / 20.0)
    bucket = fc.bucketized_column(fc.numeric_column("age"), [30, 50])
    constant = tf.glorot_uniform_initializer(seed=2)
    return [
        age, fc.indicator_column(city), bucket, fc.embedding_column(device, 3, initializer=constant),
        fc.indicator_column(fc.crossed_column([city, bucket], 7)),
    ]


def cross_layer(x0, x, name):
    with tf.variable_scope(name):
        size = x0.get_shape().as_list()[1]
        w = tf.get_variable("weight", [size], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=3))
        b = tf.get_variable("bias", [size], initializer=tf.zeros_initializer())
        xw = tf.tensordot(tf.reshape(x, [-1, 1, size]), w, 1)
        return x0 * xw + b + x


def model_fn(features, labels, mode, params):
    x0 = fc.input_layer(features, params["columns"])
    with tf.variable_scope("cross"):
        x = x0
        for number in range(params["cross_layers"]):
            x = cross_layer(x0, x, "cross_%d" % number)
    with tf.variable_scope("deep"):
        deep = x0
        for number, units in enumerate([8, 4]):
            deep = tf.layers.dense(deep, units, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=number))
    logits = tf.layers.dense(tf.concat([x, deep], 1), 1, kernel_initializer=tf.glorot_uniform_initializer(seed=5))
    probability = tf.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"p": probability}, export_outputs={
            "serving_default": tf.estimator.export.ClassificationOutput(scores=probability)})
    labels = tf.reshape(tf.to_float(labels), [-1, 1])
    loss = tf.losses.log_loss(labels, probability)
    cross_vars = tf.trainable_variables("cross")
    others = [v for v in tf.trainable_variables() if v not in cross_vars]
    step = tf.train.get_global_step()
    cross_optimizer, deep_optimizer = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001), tf.train.AdagradOptimizer(0.2)
    cross_gradients = cross_optimizer.compute_gradients(loss, var_list=cross_vars)
    deep_gradients = deep_optimizer.compute_gradients(loss, var_list=others)
    with tf.control_dependencies([gradient for gradient, _ in cross_gradients + deep_gradients]):
        first = cross_optimizer.apply_gradients(cross_gradients)
        second = deep_optimizer.apply_gradients(deep_gradients, global_step=step)
    metrics = {"auc": tf.metrics.auc(labels, probability), "mean": tf.metrics.mean(probability)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(first, second), eval_metric_ops=metrics)


def data():
    random = np.random.RandomState(4)
    age = random.randint(20, 60, 32).astype(np.float32)
    city = np.array(["rome", "paris", "oslo"])[random.randint(0, 3, 32)]
    device = np.array(["d%d" % n for n in random.randint(0, 12, 32)])
    return {"age": age, "city": city, "device": device}, ((age > 40) & (city != "oslo")).astype(np.int32)


def input_fn(repeat):
    dataset = tf.data.Dataset.from_tensor_slices(data())
    return (dataset.repeat() if repeat else dataset).batch(8)


model_dir = sys.argv[1]
estimator = tf.estimator.Estimator(
    model_fn, model_dir, tf.estimator.RunConfig(save_checkpoints_steps=8), {"columns": columns(), "cross_layers": 2}
)
receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(fc.make_parse_example_spec(columns()))
exporter = tf.estimator.LatestExporter("latest", receiver, exports_to_keep=1)
tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(lambda: input_fn(True), 16),
    tf.estimator.EvalSpec(lambda: input_fn(False), steps=None, exporters=[exporter], throttle_secs=0),
)
metrics = estimator.evaluate(lambda: input_fn(False))
print(json.dumps({"metrics": {k: float(v) for k, v in metrics.items()},
                  "exports": len(os.listdir(os.path.join(model_dir, "export", "latest"))),
                  "cross": estimator.get_variable_value("cross/cross_1/weight").tolist()}))
