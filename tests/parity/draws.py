"""Random numbers drawn wherever a graph can draw them: each a function that changes a `[rows, WIDTH]` tensor.

All have seeds of their own, so that TensorFlow 2.15 and later ones draw the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

ROWS, WIDTH, CLASSES = 4, 3, 8
Draw = Callable[[Any], Any]
DRAWS: dict[str, Draw] = {}


def _draw(name: str) -> Callable[[Draw], Draw]:
    def register(draw: Draw) -> Draw:
        DRAWS[name] = draw
        return draw

    return register


def _noise(seed: int) -> Any:
    return tf.random.normal([WIDTH], stddev=0.3, seed=seed)


def _thrice(body: Callable[[Any, Any], Any], x: Any) -> Any:
    """One round after the other: which of two parallel rounds draws first would be open."""
    return tf.while_loop(lambda i, _: i < 3, body, [0, x], parallel_iterations=1)[1]


@_draw("dropout")
def _dropout(x: Any) -> Any:
    return tf.nn.dropout(x, rate=0.5, seed=5)


@_draw("dropout in a function")
def _dropout_in_function(x: Any) -> Any:
    return tf.function(_dropout)(x)


@_draw("noise that needs nothing")
def _noise_alone(x: Any) -> Any:
    return x + _noise(11)


@_draw("noise that needs nothing in a function")
def _noise_in_function(x: Any) -> Any:
    return x + tf.function(lambda: _noise(12))()


@_draw("noise in a function in a function")
def _noise_deep(x: Any) -> Any:
    inner = tf.function(lambda value: value + _noise(13))
    return tf.function(lambda value: inner(value) * 1.5)(x)


@_draw("one function called twice")
def _called_twice(x: Any) -> Any:
    noisy = tf.function(lambda value: value + _noise(14))
    return noisy(noisy(x))


@_draw("dropout in a cond")
def _dropout_in_cond(x: Any) -> Any:
    drawn = tf.cond(
        tf.reduce_sum(x) > 0.5,
        lambda: tf.nn.dropout(x, rate=0.3, seed=6),
        lambda: tf.nn.dropout(x, rate=0.6, seed=7),
    )
    return tf.ensure_shape(drawn, x.shape)


@_draw("noise that needs nothing in a cond")
def _noise_in_cond(x: Any) -> Any:
    return x + tf.cond(tf.reduce_sum(x) > 0.5, lambda: _noise(15), lambda: -_noise(16))


@_draw("dropout in a while loop")
def _dropout_in_while(x: Any) -> Any:
    def body(i: Any, value: Any) -> Any:
        return i + 1, tf.nn.dropout(value, rate=0.2, seed=8)

    return tf.ensure_shape(_thrice(body, x), x.shape)


@_draw("a function in a cond in a while loop")
def _nested(x: Any) -> Any:
    noisy = tf.function(lambda value: value + _noise(17))

    def body(i: Any, value: Any) -> Any:
        return i + 1, tf.ensure_shape(tf.cond(i > 0, lambda: noisy(value), lambda: value * 0.9), x.shape)

    return _thrice(body, x)


@_draw("noise in map_fn")
def _mapped(x: Any) -> Any:
    return tf.ensure_shape(tf.map_fn(lambda row: row + _noise(18), x, parallel_iterations=1), x.shape)


@_draw("sampled softmax")
def _sampled_softmax(x: Any) -> Any:
    table = tf.reshape(tf.range(CLASSES * WIDTH, dtype=tf.float32) / 10, [CLASSES, WIDTH])
    labels = tf.argmax(x, axis=1)[:, tf.newaxis]
    losses = tf.nn.sampled_softmax_loss(table, tf.zeros([CLASSES]), labels, x, 3, CLASSES, seed=3)
    return x + 0.1 * losses[:, tf.newaxis]


def _by_sampler(name: str, sampler: Callable[..., Any], **settings: Any) -> None:
    @_draw(f"candidates: {name}")
    def draw(x: Any) -> Any:
        true = tf.zeros([ROWS, 1], tf.int64)
        # Which true class a batch has is its own matter, or the sampler would need nothing of the batch.
        true += tf.argmax(x, axis=1)[: tf.shape(true)[0], tf.newaxis]
        drawn, expected, _ = sampler(true, 1, WIDTH, True, CLASSES, seed=4, **settings)
        return x + 0.1 * tf.cast(drawn, tf.float32) + 0.1 * tf.reduce_mean(expected)


_by_sampler("log-uniform", tf.random.log_uniform_candidate_sampler)
_by_sampler("uniform", tf.random.uniform_candidate_sampler)
_by_sampler("learned unigram", tf.random.learned_unigram_candidate_sampler)
_by_sampler("fixed unigram", tf.random.fixed_unigram_candidate_sampler, unigrams=[1.0, 2, 3, 4, 5, 6, 7, 8])


@_draw("distributions")
def _distributions(x: Any) -> Any:
    drawn = [
        tf.random.truncated_normal([WIDTH], seed=21),
        tf.random.gamma([WIDTH], 2.0, seed=22),
        tf.random.poisson([WIDTH], 3.0, seed=23),
        tf.cast(tf.random.uniform([WIDTH], maxval=5, dtype=tf.int32, seed=24), tf.float32),
        tf.cast(tf.random.categorical(tf.zeros([1, 4]), WIDTH, seed=25)[0], tf.float32),
        tf.random.shuffle(tf.constant([0.0, 1.0, 2.0]), seed=26),
    ]
    return x + 0.1 * tf.add_n(drawn)
