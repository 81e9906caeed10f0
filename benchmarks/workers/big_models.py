"""The big models: one text for Lightwell, tf.estimator and the session by hand, so that all three run the same graph.

Takes TensorFlow, and a `dense` in the spelling of TF 1; gives the loss of a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workers.data import Array

Dense = Callable[..., Any]
Arrays = tuple[dict[str, Array], Array]
_dropout = lambda tf, net: tf.nn.dropout(net, rate=0.1)  # noqa: E731
TOUCHED_MB = 1_500  # a bit more than the weights of either, as they are held and as they are saved


class Big(NamedTuple):  # a model and its data
    arrays: Callable[[], Arrays]  # the features and labels to train on
    batch: int
    loss: Callable[[Any, Dense, dict[str, Any], Any], Any]  # of TensorFlow, `dense`, features and labels
    optimizer: Callable[[Any], Any]  # of TensorFlow
    warm: int  # steps before the measured ones
    steps: int  # measured steps


class Encoder(NamedTuple):  # as it comes, BERT-base: 110 million weights
    layers: int = 12
    width: int = 768
    heads: int = 12
    vocabulary: int = 30_522
    positions: int = 32


class Tables(NamedTuple):  # as it comes, 320 million weights in 20 tables
    tables: int = 20
    rows: int = 1_000_000
    width: int = 16
    numbers: int = 13


def big_models(is_quick: bool) -> dict[str, Big]:
    encoder = Encoder(2, 32, 2, 1_000, 8) if is_quick else Encoder()
    tables = Tables(3, 1_000, 4, 3) if is_quick else Tables()
    adam = lambda tf: tf.compat.v1.train.AdamOptimizer(1e-4)  # noqa: E731
    descent = lambda tf: tf.compat.v1.train.GradientDescentOptimizer(1e-2)  # noqa: E731
    few, many = ((2, 2), (10, 10)) if is_quick else ((4, 12), (300, 1_000))
    return {
        "bert": Big(partial(sentences, encoder), 4, partial(encoder_loss, encoder), adam, *few),
        "dlrm": Big(partial(visits, tables), 256, partial(tables_loss, tables), descent, *many),
    }


def gpu_models(is_quick: bool) -> dict[str, Big]:
    """Those of the GPU: BERT-base on 16 rows of 128 tokens, and 83 million weights in 26 tables, batch 2048."""
    encoder, tables, batches = gpu_shapes(is_quick)
    adam = lambda tf: tf.compat.v1.train.AdamOptimizer(1e-4)  # noqa: E731
    descent = lambda tf: tf.compat.v1.train.GradientDescentOptimizer(1e-2)  # noqa: E731
    return {
        "gpu_bert": Big(partial(sentences, encoder), batches[0], partial(encoder_loss, encoder), adam, 0, 0),
        "gpu_dlrm": Big(partial(visits, tables), batches[1], partial(tables_loss, tables), descent, 0, 0),
    }


def gpu_shapes(is_quick: bool) -> tuple[Encoder, Tables, tuple[int, int]]:
    """The shapes of the encoder and the tables, and their batches."""
    if is_quick:
        return Encoder(1, 16, 2, 100, 8), Tables(3, 100, 4, 3), (2, 8)
    return Encoder(positions=128), Tables(26, 100_000, 32), (16, 2_048)


def sentences(shape: Encoder) -> Arrays:
    generator = np.random.default_rng(7)
    tokens = generator.integers(0, shape.vocabulary, (512, shape.positions), dtype=np.int32)
    return {"tokens": tokens}, generator.integers(0, 2, 512, dtype=np.int32)


def visits(shape: Tables) -> Arrays:
    """Rows of numbers and of ids, a few of which are frequent, with a label of 0 or 1."""
    generator, rows = np.random.default_rng(7), 20_000
    ids = (shape.rows * generator.random((rows, shape.tables)) ** 4).astype(np.int32)
    numbers = generator.standard_normal((rows, shape.numbers)).astype(np.float32)
    return {"ids": ids, "numbers": numbers}, generator.integers(0, 2, rows).astype(np.float32)


def encoder_loss(shape: Encoder, tf: Any, dense: Dense, features: dict[str, Any], labels: Any) -> Any:
    tf1, width = tf.compat.v1, shape.width
    small = tf1.truncated_normal_initializer(stddev=0.02)
    with tf1.variable_scope("embeddings"):
        words = tf1.get_variable("words", [shape.vocabulary, width], initializer=small)
        positions = tf1.get_variable("positions", [shape.positions, width], initializer=small)
        net = tf.nn.embedding_lookup(words, features["tokens"]) + positions
        net = _dropout(tf, _normalized(tf, tf.reshape(net, [-1, width])))
    for layer in range(shape.layers):
        with tf1.variable_scope(f"layer_{layer}"):
            attended = _dropout(tf, dense(_attention(tf, dense, net, shape), width, name="attended"))
            net = _normalized(tf, net + attended, "after_attention")
            wide = dense(net, 4 * width, activation=tf.nn.gelu, name="wide")
            net = _normalized(tf, net + _dropout(tf, dense(wide, width, name="narrow")), "after_wide")
    first = tf.reshape(net, [-1, shape.positions, width])[:, 0]
    logits = dense(dense(first, width, activation=tf.nn.tanh, name="pooled"), 2, name="logits")
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def tables_loss(shape: Tables, tf: Any, dense: Dense, features: dict[str, Any], labels: Any) -> Any:
    """The loss of a click model: numbers through a small network, ids through tables, then all pairs of them."""
    tf1 = tf.compat.v1
    scale = tf1.random_uniform_initializer(-0.05, 0.05)
    net = features["numbers"]
    for units in (64, shape.width):
        net = dense(net, units, activation=tf.nn.relu, name=f"numbers_{units}")
    vectors = [net]
    for number in range(shape.tables):
        table = tf1.get_variable(f"table_{number}", [shape.rows, shape.width], initializer=scale)
        vectors.append(tf.nn.embedding_lookup(table, features["ids"][:, number]))
    stacked = tf.stack(vectors, axis=1)
    pairs = tf.matmul(stacked, stacked, transpose_b=True)
    net = tf.concat([net, tf.reshape(pairs, [-1, (shape.tables + 1) ** 2])], axis=1)
    for units in (128, 64):
        net = dense(net, units, activation=tf.nn.relu, name=f"top_{units}")
    logits = dense(net, 1, name="logits")[:, 0]
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def _attention(tf: Any, dense: Dense, net: Any, shape: Encoder) -> Any:
    each = shape.width // shape.heads

    def split(name: str) -> Any:
        flat = dense(net, shape.width, name=name)
        return tf.transpose(tf.reshape(flat, [-1, shape.positions, shape.heads, each]), [0, 2, 1, 3])

    query, key, value = split("query"), split("key"), split("value")
    scores = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / each**0.5)
    mixed = tf.transpose(tf.matmul(_dropout(tf, scores), value), [0, 2, 1, 3])
    return tf.reshape(mixed, [-1, shape.width])


def _normalized(tf: Any, net: Any, name: str = "normalized") -> Any:
    width = net.shape[-1]
    with tf.compat.v1.variable_scope(name):
        scale = tf.compat.v1.get_variable("gamma", [width], initializer=tf.compat.v1.ones_initializer())
        shift = tf.compat.v1.get_variable("beta", [width], initializer=tf.compat.v1.zeros_initializer())
        mean, variance = tf.nn.moments(net, axes=[-1], keepdims=True)
        return tf.nn.batch_normalization(net, mean, variance, shift, scale, 1e-12)
