"""Models whose steps are hard to fuse: random ops, control flow, tables, sparse updates, several optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1


def _minimize(loss: Any, optimizer: Any = None, **options: Any) -> Any:
    optimizer = optimizer or v1.train.AdamOptimizer(0.01)
    return optimizer.minimize(loss, global_step=v1.train.get_global_step(), **options)


def _spec(mode: str, out: Any, labels: Any, optimizer: Any = None) -> lw.EstimatorSpec:
    loss = tf.reduce_mean(tf.square(out - labels))
    return lw.EstimatorSpec(mode, loss=loss, train_op=_minimize(loss, optimizer))


def _output(hidden: Any) -> Any:
    v1.summary.histogram("hidden", hidden)
    tf.reduce_mean(hidden, name="the_mean")
    tf.reduce_sum(hidden, axis=0, name="the_sums")
    return hidden @ v1.get_variable("out", [hidden.shape[-1], 1])


def _hidden(features: Any, size: int = 8) -> Any:
    return features["x"] @ v1.get_variable("w", [6, size])


def dropout(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    return _spec(mode, _output(tf.nn.dropout(tf.nn.relu(_hidden(features)), rate=0.5)), labels)


def cond(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    hidden = _hidden(features)
    chosen = tf.cond(
        tf.reduce_mean(hidden) > 0,
        lambda: tf.nn.dropout(tf.nn.relu(hidden), rate=0.3),
        lambda: tf.nn.dropout(tf.tanh(hidden), rate=0.5),
    )
    return _spec(mode, _output(tf.ensure_shape(chosen, [None, 8])), labels)


def while_loop(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    kernel = v1.get_variable("kernel", [6, 6])
    _, hidden = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, h: (i + 1, tf.nn.dropout(tf.tanh(h @ kernel), rate=0.2)),
        [0, features["x"]],
    )
    return _spec(mode, _output(tf.ensure_shape(hidden, [None, 6])), labels)


def lstm(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    cell = lw.rnn_cell.LSTMCell(5)
    outputs, _ = v1.nn.dynamic_rnn(cell, tf.reshape(features["x"], [-1, 3, 2]), dtype=tf.float32)
    return _spec(mode, _output(outputs[:, -1]), labels)


def embedding(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    words = tf.constant([b"a", b"b", b"c"])
    known = tf.lookup.KeyValueTensorInitializer(words, tf.range(3, dtype=tf.int64))
    table = tf.lookup.StaticVocabularyTable(known, 2)
    hidden = tf.reduce_sum(tf.nn.embedding_lookup(v1.get_variable("ids", [20, 3]), features["ids"]), axis=1)
    hidden += tf.gather(v1.get_variable("words", [5, 3]), table.lookup(features["word"]))
    return _spec(mode, _output(hidden), labels, v1.train.AdagradOptimizer(0.1))


def batch_norm(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    hidden = lw.layers.batch_normalization(_hidden(features), training=True, momentum=0.9)
    out = _output(hidden)
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        return _spec(mode, out, labels)


def two_optimizers(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    out = _output(tf.nn.relu(_hidden(features)))
    loss = tf.reduce_mean(tf.square(out - labels))
    first, second = v1.trainable_variables()
    one = v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss, var_list=[first])
    with tf.control_dependencies([one]):
        two = _minimize(loss, var_list=[second])
    return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(one, two))


def function(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    @tf.function
    def drop(x: Any) -> Any:
        return tf.nn.dropout(x, rate=0.5)

    return _spec(mode, _output(drop(_hidden(features))), labels)


def fixed_noise(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """Random numbers in functions that need nothing of the batch."""

    @tf.function
    def draw() -> Any:
        return tf.random.uniform([8], seed=3)

    noisy = _hidden(features) * draw() + tf.cond(
        tf.constant(True), lambda: tf.random.normal([8]), lambda: tf.zeros([8])
    )
    return _spec(mode, _output(noisy), labels)


def lasting(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """What lasts from step to step beside variables, what is made anew in each, and ops that stand together."""
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
    key = tf.constant([0], tf.int64)
    with tf.control_dependencies([table.insert(key, table.lookup(key) + 1.0)]):
        steps = table.lookup(key)
    given = v1.placeholder_with_default(tf.constant(0.5), [])
    computed = v1.placeholder_with_default(given * 2, [])
    array = tf.TensorArray(tf.float32, 2).write(0, given).write(1, computed).stack()
    first = tf.identity(_hidden(features))
    with v1.colocate_with(first):
        second = first * tf.reduce_sum(array) + 0.01 * steps
    return _spec(mode, _output(second), labels)


def python(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    doubled = tf.ensure_shape(tf.numpy_function(lambda x: 2 * x, [features["x"]], tf.float32), [None, 6])
    return _spec(mode, _output(_hidden({"x": doubled})), labels)


def big_constant(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    fixed = tf.reshape(tf.constant([0.01 * i for i in range(6 * 400)]), [6, 400])
    return _spec(mode, _output(tf.tanh(features["x"] @ fixed)), labels, v1.train.GradientDescentOptimizer(0.001))


def counting_by(stride: int) -> Callable[..., Any]:
    """A model whose step moves the global step by `stride`."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        loss = tf.reduce_mean(tf.square(_output(_hidden(features)) - labels))
        trained = v1.train.AdamOptimizer(0.01).minimize(loss)
        with tf.control_dependencies([trained]):
            counted = v1.assign_add(v1.train.get_global_step(), stride) if stride else tf.no_op()
        return lw.EstimatorSpec(mode, loss=loss, train_op=tf.group(counted))

    return model_fn


def nan_at(step: int) -> Callable[..., Any]:
    """`dropout`, but the loss of one step is NaN."""

    def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        out = _output(tf.nn.dropout(tf.nn.relu(_hidden(features)), rate=0.5))
        at = tf.cast(v1.train.get_global_step().read_value(), tf.float32)
        trained_on = tf.reduce_mean(tf.square(out - labels))
        loss = trained_on + tf.where(at < step - 1, 0.0, float("nan"))
        with tf.control_dependencies([loss]):  # the counter is read before it moves
            return lw.EstimatorSpec(mode, loss=loss, train_op=_minimize(trained_on))

    return model_fn


ALL = {
    model.__name__: model
    for model in (
        *(dropout, cond, while_loop, lstm, embedding, batch_norm),
        *(two_optimizers, function, fixed_noise, lasting, python, big_constant),
    )
}
