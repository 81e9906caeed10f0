"""A residual network in the style of the official model: fixed padding, v2 blocks, a learning rate schedule, hooks by name, flags."""

import json

from absl import app as absl_app
from absl import flags
import numpy as np
import tensorflow as tf

_BATCH_NORM_DECAY = 0.9
_BATCH_NORM_EPSILON = 1e-5
FLAGS = flags.FLAGS
flags.DEFINE_string("model_dir", "/tmp/resnet", "Where to work.")
flags.DEFINE_integer("resnet_size", 8, "Size.")
flags.DEFINE_string("data_format", None, "channels_first or channels_last.")


def batch_norm(inputs, training, data_format):
    return tf.layers.batch_normalization(
        inputs=inputs, axis=1 if data_format == "channels_first" else 3, momentum=_BATCH_NORM_DECAY,
        epsilon=_BATCH_NORM_EPSILON, center=True, scale=True, training=training, fused=True)


def fixed_padding(inputs, kernel_size, data_format):
    pad_total = kernel_size - 1
    pad_beg = pad_total // 2
    pad_end = pad_total - pad_beg
    return tf.pad(inputs, [[0, 0], [pad_beg, pad_end], [pad_beg, pad_end], [0, 0]])


def conv2d_fixed_padding(inputs, filters, kernel_size, strides, data_format):
    if strides > 1:
        inputs = fixed_padding(inputs, kernel_size, data_format)
    return tf.layers.conv2d(
        inputs=inputs, filters=filters, kernel_size=kernel_size, strides=strides,
        padding=("SAME" if strides == 1 else "VALID"), use_bias=False,
        kernel_initializer=tf.variance_scaling_initializer(seed=filters), data_format=data_format)


def building_block_v2(inputs, filters, training, projection_shortcut, strides, data_format):
    shortcut = inputs
    inputs = batch_norm(inputs, training, data_format)
    inputs = tf.nn.relu(inputs)
    if projection_shortcut is not None:
        shortcut = projection_shortcut(inputs)
    inputs = conv2d_fixed_padding(inputs, filters, 3, strides, data_format)
    inputs = batch_norm(inputs, training, data_format)
    inputs = tf.nn.relu(inputs)
    inputs = conv2d_fixed_padding(inputs, filters, 3, 1, data_format)
    return inputs + shortcut


class Model(object):
    def __init__(self, size, num_classes, data_format=None):
        self.blocks = (size - 2) // 6
        self.num_classes = num_classes
        self.data_format = data_format or ("channels_first" if tf.test.is_built_with_cuda() else "channels_last")

    def __call__(self, inputs, training):
        with tf.variable_scope("resnet_model"):
            inputs = conv2d_fixed_padding(inputs, 4, 3, 1, self.data_format)
            inputs = tf.identity(inputs, "initial_conv")
            for i, filters in enumerate([4, 8]):
                strides = 1 if i == 0 else 2
                shortcut = lambda x: conv2d_fixed_padding(x, filters, 1, strides, self.data_format)
                inputs = building_block_v2(inputs, filters, training, shortcut, strides, self.data_format)
                for _ in range(1, self.blocks):
                    inputs = building_block_v2(inputs, filters, training, None, 1, self.data_format)
                inputs = tf.identity(inputs, "block_layer%d" % (i + 1))
            inputs = tf.nn.relu(batch_norm(inputs, training, self.data_format))
            inputs = tf.identity(tf.reduce_mean(inputs, [1, 2], keepdims=True), "final_reduce_mean")
            inputs = tf.squeeze(inputs, [1, 2])
            inputs = tf.layers.dense(inputs, self.num_classes, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
            return tf.identity(inputs, "final_dense")


def learning_rate_with_decay(batch_size, batch_denom, num_images, boundary_epochs, decay_rates, base_lr=0.1):
    initial_learning_rate = base_lr * batch_size / batch_denom
    batches_per_epoch = num_images / batch_size
    boundaries = [int(batches_per_epoch * epoch) for epoch in boundary_epochs]
    vals = [initial_learning_rate * decay for decay in decay_rates]

    def learning_rate_fn(global_step):
        lr = tf.train.piecewise_constant(global_step, boundaries, vals)
        warmup_steps = 2
        warmup_lr = initial_learning_rate * tf.cast(global_step, tf.float32) / tf.cast(warmup_steps, tf.float32)
        return tf.cond(global_step < warmup_steps, lambda: warmup_lr, lambda: lr)

    return learning_rate_fn


def resnet_model_fn(features, labels, mode, params):
    tf.summary.image("images", features, max_outputs=2)
    logits = Model(FLAGS.resnet_size, 3, params["data_format"])(features, mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.cast(logits, tf.float32)
    predictions = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(
            mode=mode, predictions=predictions, export_outputs={"predict": tf.estimator.export.PredictOutput(predictions)})
    cross_entropy = tf.losses.sparse_softmax_cross_entropy(logits=logits, labels=labels)
    tf.identity(cross_entropy, name="cross_entropy")
    l2_loss = 1e-3 * tf.add_n(
        [tf.nn.l2_loss(tf.cast(v, tf.float32)) for v in tf.trainable_variables() if "batch_normalization" not in v.name])
    loss = cross_entropy + l2_loss
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        global_step = tf.train.get_or_create_global_step()
        learning_rate = params["learning_rate_fn"](global_step)
        tf.identity(learning_rate, name="learning_rate")
        optimizer = tf.train.MomentumOptimizer(learning_rate=learning_rate, momentum=0.9)
        minimize_op = optimizer.minimize(loss, global_step)
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        train_op = tf.group(minimize_op, update_ops)
    accuracy = tf.metrics.accuracy(labels, predictions["classes"])
    top_5 = tf.metrics.mean(tf.nn.in_top_k(predictions=logits, targets=labels, k=2, name="top_2_op"))
    tf.identity(accuracy[1], name="train_accuracy")
    return tf.estimator.EstimatorSpec(
        mode=mode, predictions=predictions, loss=loss, train_op=train_op,
        eval_metric_ops={"accuracy": accuracy, "accuracy_top_2": top_5})


def input_fn(is_training, num_epochs=1):
    random = np.random.RandomState(0)
    images = random.uniform(-1, 1, [12, 8, 8, 3]).astype(np.float32)
    labels = (np.arange(12) % 3).astype(np.int32)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    return dataset.repeat(num_epochs if is_training else 1).batch(6)


def main(_):
    tf.logging.set_verbosity(tf.logging.ERROR)
    params = {
        "learning_rate_fn": learning_rate_with_decay(6, 6, 12, [3, 4], [1, 0.1, 0.01]), "data_format": FLAGS.data_format}
    classifier = tf.estimator.Estimator(
        model_fn=resnet_model_fn, model_dir=FLAGS.model_dir, params=params,
        config=tf.estimator.RunConfig(session_config=tf.ConfigProto(allow_soft_placement=True), save_checkpoints_secs=60 * 60 * 24))
    tensors_to_log = dict((x, x) for x in ["learning_rate", "cross_entropy", "train_accuracy"])
    hooks = [tf.train.LoggingTensorHook(tensors=tensors_to_log, every_n_iter=100)]
    classifier.train(input_fn=lambda: input_fn(True, 5), hooks=hooks, max_steps=8)
    results = classifier.evaluate(input_fn=lambda: input_fn(False))
    probabilities = [row["probabilities"].tolist() for row in classifier.predict(lambda: input_fn(False))]
    print(json.dumps({"results": {k: float(v) for k, v in results.items()}, "rows": len(probabilities),
                      "first": probabilities[0], "names": sorted(classifier.get_variable_names())[:8]}))


if __name__ == "__main__":
    absl_app.run(main)
