"""Everything for TensorBoard: scalars, histograms and images in model_fn, a SummarySaverHook of its own, an eval of them."""

import glob
import json
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode, params):
    images = tf.reshape(features["image"], [-1, 4, 4, 1])
    tf.summary.image("input", images, max_outputs=1)
    net = tf.layers.conv2d(images, 2, 3, activation=tf.nn.relu, kernel_initializer=tf.constant_initializer(0.1), name="conv")
    tf.summary.histogram("activations", net)
    with tf.name_scope("stats"):
        tf.summary.scalar("sparsity", tf.nn.zero_fraction(net))
    output = tf.reduce_mean(net, [1, 2, 3])
    loss = tf.losses.mean_squared_error(labels, output)
    tf.summary.scalar("my_loss", loss)
    global_step = tf.train.get_global_step()
    learning_rate = tf.train.polynomial_decay(0.1, global_step, 10, end_learning_rate=0.01)
    tf.summary.scalar("learning_rate", learning_rate)
    train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)
    hook = tf.train.SummarySaverHook(
        save_steps=2, output_dir=os.path.join(params["dir"], "mine"), summary_op=tf.summary.scalar("doubled", loss * 2, collections=[])
    )
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=[hook], eval_metric_ops={"mean": tf.metrics.mean(output)}
    )


def input_fn():
    random = np.random.RandomState(2)
    images = random.uniform(0, 1, [6, 16]).astype(np.float32)
    return tf.estimator.inputs.numpy_input_fn({"image": images}, images.mean(1), batch_size=3, num_epochs=None, shuffle=False)()


def scalars(pattern):
    found = []
    for path in sorted(glob.glob(pattern)):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                if value.HasField("simple_value") and value.tag != "global_step/sec" and "queue" not in value.tag:
                    found.append([event.step, value.tag, value.simple_value])
                elif value.HasField("image") or value.HasField("histo"):
                    found.append([event.step, value.tag])
    return sorted(found)


model_dir = sys.argv[1]
config = tf.estimator.RunConfig(save_summary_steps=3, log_step_count_steps=100)
estimator = tf.estimator.Estimator(model_fn, model_dir, config, params={"dir": model_dir})
estimator.train(input_fn, steps=6)
estimator.evaluate(input_fn, steps=2, name="again")
print(json.dumps({
    "train": scalars(os.path.join(model_dir, "events*")),
    "mine": scalars(os.path.join(model_dir, "mine", "events*")),
    "eval": [row for row in scalars(os.path.join(model_dir, "eval_again", "events*")) if len(row) == 3],
}))
