"""What a layer is called with can be changed, for each kind of layer: bit for bit what the same change gives that is
written into `model_fn` before the layer, in every verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.inside.edits import models

import lightwell as lw

v1, fc = tf.compat.v1, tf.feature_column
Before = Callable[[str, Any], Any]
_DIRECTION = np.linspace(-1.0, 1.0, 6).astype(np.float32)
_WORDS = np.array([2, 0, 1, 1, 2, 0])


def _clipped(x: Any) -> Any:
    return tf.clip_by_value(x, -0.25, 0.25)


def _zeroed(unit: int, of: int) -> Callable[[Any], Any]:
    return lambda x: x * tf.constant([0.0 if place == unit else 1.0 for place in range(of)])


def _noisy(x: Any) -> Any:
    return x + tf.random.normal(tf.shape(x), stddev=0.1, seed=4)


# The path of an input -> the edit, and the same by hand.
OWN: dict[str, Any] = {
    "layers/conv2d/input": (lambda path: lw.noise(path, 0.1, seed=4), _noisy),
    "layers/dense/input": (lambda path: lw.scale(path, 0.5), lambda x: x * 0.5),
    "layers/shared:1/input": (lambda path: lw.zero(path, unit=2), _zeroed(2, 6)),
    "layers/batch_normalization/input": (lambda path: lw.add(path, _DIRECTION), lambda x: x + _DIRECTION),
}


def own(before: Before) -> Any:
    """Layers of TensorFlow 1; one of them is called three times."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        x = before("layers/conv2d/input", tf.reshape(features["x"], [-1, 6, 6, 1]))
        x = lw.layers.flatten(lw.layers.conv2d(x, 2, [3, 3]))
        x = lw.layers.dense(before("layers/dense/input", x), 6)
        shared = lw.layers.Dense(6, tf.nn.tanh, name="shared")
        x = shared(before("layers/shared:1/input", shared(x)))
        x = before("layers/batch_normalization/input", shared(x))
        x = lw.layers.batch_normalization(x, training=mode == models.TRAIN)
        return models.finished(lw.layers.dense(x, 4), labels, mode)

    return model_fn


KERAS: dict[str, Any] = {
    "layers/embedding/input": (lambda path: lw.replace(path, _WORDS), lambda x: tf.zeros_like(x) + _WORDS),
    "layers/lstm/input": (lambda path: lw.clip(path, value=0.25), _clipped),
    "layers/add/input[1]": (lambda path: lw.apply(path, tf.nn.softsign), tf.nn.softsign),
    "layers/net/inner/input": (lambda path: lw.scale(path, 2.0), lambda x: x * 2.0),
    "layers/multi_head_attention/input[1]": (lambda path: lw.zero(path, channel=1), _zeroed(1, 4)),
}


def masked(value: Any, mask: Any) -> Any:
    """The value with a mask noted on it, as Keras does."""
    value._keras_mask = mask
    return value


def with_keras(before: Before) -> Any:
    """Keras layers: an embedding whose mask follows from what it takes; two inputs, one by name; a nested model."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        words = tf.cast(tf.abs(features["x"][:, :6]), tf.int32)
        x = keras.layers.Embedding(5, 4, mask_zero=True)(before("layers/embedding/input", words))
        mask = x._keras_mask
        key = masked(before("layers/multi_head_attention/input[1]", x), mask)
        x = masked(x + keras.layers.MultiHeadAttention(1, 2)(x, value=key), mask)
        x = keras.layers.LSTM(6)(masked(before("layers/lstm/input", x), mask))
        x = keras.layers.Add()([x, before("layers/add/input[1]", x)])
        changed = keras.layers.Lambda(lambda value: before("layers/net/inner/input", value), name="before")
        x = keras.Sequential([changed, keras.layers.Dense(6, name="inner")], name="net")(x)
        return models.finished(keras.layers.Dense(4)(x), labels, mode)

    return model_fn


RECURRENT: dict[str, Any] = {
    "layers/rnn/lstm_cell/input": (lambda path: lw.scale(path, 0.5), lambda x: x * 0.5),
    "layers/bidirectional_rnn/fw/gru_cell/input": (lambda path: lw.clip(path, value=0.25), _clipped),
    "layers/gru_cell/input": (lambda path: lw.zero(path, unit=0), _zeroed(0, 6)),
    "layers/gru_cell/dropout_wrapper:1/input": (lambda path: lw.scale(path, 2.0), lambda x: x * 2.0),
}


def recurrent(before: Before) -> Any:
    """Cells of TensorFlow 1: over a sequence, over one in both ways, and called by hand, in two wrappers."""
    path_fw = "layers/bidirectional_rnn/fw/gru_cell/input"

    def both_ways(cells: list[Any], rows: Any) -> Any:
        """`bidirectional_dynamic_rnn`, each direction with an input of its own."""
        forward = before(path_fw, rows)
        if forward is rows:
            return v1.nn.bidirectional_dynamic_rnn(*cells, rows, dtype=tf.float32)[0]
        with v1.variable_scope("bidirectional_rnn"):
            with v1.variable_scope("fw") as fw:
                one, _ = v1.nn.dynamic_rnn(cells[0], forward, dtype=tf.float32, scope=fw)
            with v1.variable_scope("bw") as bw:
                other, _ = v1.nn.dynamic_rnn(cells[1], tf.reverse(rows, [1]), dtype=tf.float32, scope=bw)
        return one, tf.reverse(other, [1])

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        rows = tf.reshape(features["x"], [-1, 6, 6])
        cell = lw.rnn_cell.LSTMCell(6)
        steps, _ = v1.nn.dynamic_rnn(cell, before("layers/rnn/lstm_cell/input", rows), dtype=tf.float32)
        one, other = both_ways([lw.rnn_cell.GRUCell(3), lw.rnn_cell.GRUCell(3)], steps)
        x = tf.concat([one[:, -1], other[:, 0]], 1)
        cell, wrapper = lw.rnn_cell.GRUCell(6), lw.rnn_cell.DropoutWrapper
        inner = wrapper(cell, output_keep_prob=0.9, seed=3)
        outer = wrapper(inner, output_keep_prob=0.8, seed=3)
        state = cell.zero_state(tf.shape(x)[0], tf.float32)
        x = before("layers/gru_cell/dropout_wrapper:1/input", x)
        x, _ = outer(before("layers/gru_cell/input", x), state)
        return models.finished(lw.layers.dense(x, 4), labels, mode)

    return model_fn


_BUCKETS = "layers/input_layer/age_bucketized/input"
_ONE_FOR_ALL = "layers/linear_model/input[0]"
COLUMNS: dict[str, Any] = {
    _BUCKETS: (lambda path: lw.scale(path, 0.5), lambda x: x * 0.5),
    _ONE_FOR_ALL: (lambda path: lw.add(path, 10.0), lambda x: x + 10.0),
}


def of_columns(before: Before) -> Any:
    """A feature that two columns read, of which one is changed; a feature that all columns of a linear model read."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        age, halved = fc.numeric_column("age"), lambda x: before(_BUCKETS, x)
        is_plain = halved(features["age"]) is features["age"]
        source = age if is_plain else fc.numeric_column("age", normalizer_fn=halved)
        buckets = fc.bucketized_column(source, [10.0, 30.0, 50.0])
        city = fc.categorical_column_with_vocabulary_list("city", ["Ulm", "Bonn", "Kiel"])
        x = v1.feature_column.input_layer(features, [age, buckets, fc.embedding_column(city, 2)])
        older = {**features, "age": before(_ONE_FOR_ALL, features["age"])}
        x = lw.layers.dense(x, 4) + v1.feature_column.linear_model(older, [age, city], units=4)
        return models.finished(x, labels, mode)

    return model_fn


CASES = {"own": (own, OWN), "keras": (with_keras, KERAS), "recurrent": (recurrent, RECURRENT)}
CASES["columns"] = (of_columns, COLUMNS)


def _same(first: Any, second: Any) -> None:
    assert first.keys() == second.keys()
    for key in first:
        np.testing.assert_array_equal(first[key], second[key], err_msg=key)


QUICK = [("own", False), ("keras", "auto"), ("columns", "auto")]
REST = [(name, fuse_steps) for name in CASES for fuse_steps in ("auto", False) if (name, fuse_steps) not in QUICK]


@pytest.mark.parametrize(
    ("name", "fuse_steps"), [*QUICK, *(pytest.param(*one, marks=pytest.mark.slow) for one in REST)]
)
def test_every_verb(tmp_path: Path, name: str, fuse_steps: Any) -> None:
    model, changes = CASES[name]
    edits = [edit(path) for path, (edit, _) in changes.items()]
    edited = models.estimator(model(lambda path, x: x), tmp_path / "edited", fuse_steps=fuse_steps)
    by_hand = models.estimator(model(lambda path, x: changes[path][1](x)), tmp_path / "by_hand", fuse_steps=fuse_steps)
    edited.train(models.data, steps=3, edits=edits)
    by_hand.train(models.data, steps=3)
    names = edited.get_variable_names()
    assert names == by_hand.get_variable_names()
    _same(*({key: est.get_variable_value(key) for key in names} for est in (edited, by_hand)))
    assert edited.evaluate(models.once, edits=edits) == by_hand.evaluate(models.once)
    tapped = {"taps": list(changes), "yield_single_examples": False}
    predicted = next(edited.predict(models.once, edits=edits, **tapped))
    expected = next(by_hand.predict(models.once, yield_single_examples=False))
    _same({"probabilities": predicted["probabilities"]}, expected)
    plain = next(edited.predict(models.once, **tapped))
    for path in changes:
        assert not np.array_equal(predicted[path], plain[path]), f"{path}: taps read what the edits left"
    if fuse_steps == "auto":
        with edited.predictor() as p, by_hand.predictor() as q:
            _same(p(models.FEATURES, edits=edits), q(models.FEATURES))
