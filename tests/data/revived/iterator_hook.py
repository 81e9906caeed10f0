"""The IteratorInitializerHook that everybody copied: arrays too large for the graph are fed to an initializable iterator."""

import json
import sys

import numpy as np
import tensorflow as tf


class IteratorInitializerHook(tf.train.SessionRunHook):
    """Hook to initialise data iterator after Session is created."""

    def __init__(self):
        super(IteratorInitializerHook, self).__init__()
        self.iterator_initializer_func = None

    def after_create_session(self, session, coord):
        """Initialise the iterator after the session has been created."""
        self.iterator_initializer_func(session)


def get_inputs(features, labels, batch_size, epochs):
    hook = IteratorInitializerHook()

    def inputs():
        with tf.name_scope("Training_data"):
            features_placeholder = tf.placeholder(features.dtype, features.shape)
            labels_placeholder = tf.placeholder(labels.dtype, labels.shape)
            dataset = tf.data.Dataset.from_tensor_slices((features_placeholder, labels_placeholder))
            dataset = dataset.repeat(epochs).batch(batch_size)
            iterator = dataset.make_initializable_iterator()
            next_example, next_label = iterator.get_next()
            hook.iterator_initializer_func = lambda sess: sess.run(
                iterator.initializer, feed_dict={features_placeholder: features, labels_placeholder: labels}
            )
            return next_example, next_label

    return inputs, hook


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(
        features, 8, tf.nn.relu, kernel_initializer=tf.glorot_uniform_initializer(seed=1), name="hidden"
    )
    logits = tf.layers.dense(hidden, 3, kernel_initializer=tf.glorot_uniform_initializer(seed=2), name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.RMSPropOptimizer(params.learning_rate).minimize(loss, tf.train.get_global_step())
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1), name="accuracy")}
    return tf.estimator.EstimatorSpec(mode, tf.argmax(logits, 1), loss, train_op, eval_metric_ops=metrics)


class Params(object):
    learning_rate = 0.02


random = np.random.RandomState(0)
x = random.randn(48, 4).astype(np.float32)
y = np.argmax(x[:, :3], 1)
train_input_fn, train_hook = get_inputs(x, y, 16, None)
eval_input_fn, eval_hook = get_inputs(x, y, 16, 1)
tf.logging.set_verbosity(tf.logging.ERROR)
estimator = tf.estimator.Estimator(model_fn, sys.argv[1], params=Params())
estimator.train(train_input_fn, hooks=[train_hook], steps=20)
result = estimator.evaluate(eval_input_fn, hooks=[eval_hook])
print(json.dumps({key: float(value) for key, value in result.items()}))
