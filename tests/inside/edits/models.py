"""Models to change values in: each takes the change as a function too, to write it by hand where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
TRAIN, EVAL, PREDICT = lw.ModeKeys.TRAIN, lw.ModeKeys.EVAL, lw.ModeKeys.PREDICT
Change = Callable[[Any], Any]

_random = np.random.default_rng(5)
X = _random.normal(size=(12, 36)).astype(np.float32)
AGES = _random.uniform(1, 80, size=(12, 1)).astype(np.float32)
CITIES = np.array([b"Ulm", b"Bonn", b"Kiel"] * 4)
LABELS = (np.arange(12) % 4).astype(np.int32)
FEATURES = {"x": X, "age": AGES, "city": CITIES}


def data(repeat: int | None = None) -> Any:
    """Batches of five, the last of two; without end unless `repeat` says how often."""
    return tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).batch(5).repeat(repeat)


def once() -> Any:
    """Three batches."""
    return data(repeat=1)


def same(value: Any) -> Any:
    """No change."""
    return value


def finished(logits: Any, labels: Any, mode: str, clip: Change = same) -> lw.EstimatorSpec:
    """The spec of a classifier; `clip` is given the list of gradients."""
    predictions = {"probabilities": tf.nn.softmax(logits)}
    if mode == PREDICT:
        return lw.EstimatorSpec(mode, predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = None
    if mode == TRAIN:
        optimizer = v1.train.AdamOptimizer(0.01)
        gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
        pairs = zip(clip(list(gradients)), variables, strict=True)
        train_op = optimizer.apply_gradients(pairs, v1.train.get_global_step())
    metrics = {"accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, axis=1))}
    return lw.EstimatorSpec(mode, predictions, loss, train_op, metrics)


def mlp(change: Change = same, clip: Change = same, on_features: Change = same, on_loss: Change = same) -> Any:
    """A hidden layer, dropout, another."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        x = change(lw.layers.dense(on_features(features["x"]), 8, activation=tf.nn.relu))
        x = lw.layers.dropout(x, 0.4, training=mode == TRAIN)
        x = lw.layers.dense(x, 6, activation=tf.nn.tanh)
        return finished(lw.layers.dense(x, 4), labels, mode, clip)

    return model_fn


def cnn(change: Change = same) -> Any:
    """Two convolutions with pooling, dropout."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        x = tf.reshape(features["x"], [-1, 6, 6, 1])
        x = change(lw.layers.conv2d(x, 3, [3, 3], padding="same", activation=tf.nn.relu))
        x = lw.layers.max_pooling2d(x, [2, 2], 2)
        x = lw.layers.conv2d(x, 2, [3, 3], padding="same", activation=tf.nn.relu)
        x = lw.layers.dropout(lw.layers.flatten(x), 0.3, training=mode == TRAIN)
        return finished(lw.layers.dense(x, 4), labels, mode)

    return model_fn


def lstm(change: Change = same) -> Any:
    """A Keras LSTM over the rows of the image."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        steps = change(keras.layers.LSTM(5, return_sequences=True)(tf.reshape(features["x"], [-1, 6, 6])))
        return finished(lw.layers.dense(steps[:, -1], 4), labels, mode)

    return model_fn


def old_rnn(change: Change = same) -> Any:
    """The same with a cell of TensorFlow 1."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        rows = tf.reshape(features["x"], [-1, 6, 6])
        steps, _ = v1.nn.dynamic_rnn(lw.rnn_cell.LSTMCell(5), rows, dtype=tf.float32)
        return finished(lw.layers.dense(change(steps)[:, -1], 4), labels, mode)

    return model_fn


def normalised(change: Change = same) -> Any:
    """Keras layers with statistics of their own and randomness."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        x = keras.layers.Dense(6, activation="relu")(features["x"])
        x = keras.layers.Dropout(0.3)(change(keras.layers.BatchNormalization()(x)))
        return finished(keras.layers.Dense(4)(x), labels, mode)

    return model_fn


def columns(change: Change = same) -> Any:
    """Feature columns: age, the city by its embedding, and by its indicator."""

    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        column = tf.feature_column
        city = column.categorical_column_with_vocabulary_list("city", ["Ulm", "Bonn", "Kiel"])
        chosen = [column.numeric_column("age"), column.indicator_column(city), column.embedding_column(city, 3)]
        x = change(v1.feature_column.input_layer(features, chosen))
        return finished(lw.layers.dense(lw.layers.dense(x, 6, tf.nn.relu), 4), labels, mode)

    return model_fn


def estimator(model_fn: Any, model_dir: Any, **settings: Any) -> lw.Estimator:
    """An Estimator with a seed that writes no summaries; `settings` are those of `RunConfig`."""
    chosen = {"tf_random_seed": 7, "save_summary_steps": None, "log_step_count_steps": None, **settings}
    return lw.Estimator(model_fn, model_dir=str(model_dir), config=lw.RunConfig(**chosen))
