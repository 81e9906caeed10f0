"""TensorFlow 1 spelling with flags and tf.app.run: a classifier with a named softmax and a learning rate in params."""

import json

import numpy as np
import tensorflow as tf

flags = tf.flags
flags.DEFINE_string("model_dir", None, "Where checkpoints go.")
flags.DEFINE_integer("steps", 40, "How many steps to train.")
FLAGS = flags.FLAGS


def model_fn(features, labels, mode, params):
    initial = tf.glorot_uniform_initializer
    net = tf.layers.dense(inputs=features["x"], units=128, activation=tf.nn.relu, kernel_initializer=initial(seed=1))
    logits = tf.layers.dense(inputs=net, units=3, kernel_initializer=initial(seed=2))
    predictions = {
        "classes": tf.argmax(input=logits, axis=1),
        "probabilities": tf.nn.softmax(logits, name="softmax_tensor"),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(learning_rate=params["learning_rate"])
        train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)
    metrics = {"accuracy": tf.metrics.accuracy(labels=labels, predictions=predictions["classes"])}
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=metrics)


def data(n, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 3, n)
    return (labels[:, None] * 2.0 + rng.randn(n, 4) * 0.3).astype(np.float32), labels.astype(np.int32)


def input_fn(n, seed, repeat):
    x, y = data(n, seed)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(20)
    dataset = dataset.repeat() if repeat else dataset
    return dataset.make_one_shot_iterator().get_next()


def main(unused_argv):
    classifier = tf.estimator.Estimator(model_fn, model_dir=FLAGS.model_dir, params={"learning_rate": 0.1})
    logging_hook = tf.train.LoggingTensorHook(tensors={"probabilities": "softmax_tensor"}, every_n_iter=20)
    classifier.train(input_fn=lambda: input_fn(200, 0, True), steps=FLAGS.steps, hooks=[logging_hook])
    results = classifier.evaluate(input_fn=lambda: input_fn(60, 1, False))
    print(json.dumps({"accuracy": float(results["accuracy"]), "loss": float(results["loss"]), "steps": int(results["global_step"])}))


if __name__ == "__main__":
    tf.app.run()
