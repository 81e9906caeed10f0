"""Models to look into: one with a bit of everything, and the kinds that a step must be the same for, watched or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import lightwell as lw
from lightwell.inside.paths.catalogue import Catalogue
from lightwell.inside.paths.select import select
from lightwell.run.engine.build import Recipe, build
from lightwell.run.engine.program import Program

v1 = tf.compat.v1
TRAIN, EVAL, PREDICT = lw.ModeKeys.TRAIN, lw.ModeKeys.EVAL, lw.ModeKeys.PREDICT

_random = np.random.default_rng(4)
IMAGES = _random.normal(size=(24, 28 * 28)).astype(np.float32)
AGES = _random.uniform(1, 80, size=(24, 1)).astype(np.float32)
CITIES = np.array([b"Ulm", b"Bonn", b"Kiel"] * 8)
DIGITS = (np.arange(24) % 10).astype(np.int32)
BATCH = 8


def data(repeat: int | None = None) -> Any:
    """Batches of eight, with an image, an age and a city each; without end unless `repeat` says how often."""
    features = {"x": IMAGES, "age": AGES, "city": CITIES}
    return tf.data.Dataset.from_tensor_slices((features, DIGITS)).repeat(repeat).batch(BATCH)


def once() -> Any:
    """Three batches of eight."""
    return data(repeat=1)


def finished(logits: Any, labels: Any, mode: str, optimizer: Any = None) -> lw.EstimatorSpec:
    """The spec of a classifier."""
    predictions = {"probabilities": tf.nn.softmax(logits, name="softmax_tensor"), "classes": tf.argmax(logits, axis=1)}
    if mode == PREDICT:
        return lw.EstimatorSpec(mode, predictions=predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = None
    if mode == TRAIN:
        optimizer = optimizer or v1.train.AdamOptimizer(0.01)
        train_op = optimizer.minimize(loss, global_step=v1.train.get_global_step())
    metrics = {"accuracy": v1.metrics.accuracy(labels, predictions["classes"])}
    return lw.EstimatorSpec(mode, predictions, loss, train_op, metrics)


def everything(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """A model with a layer that is called twice, one with several outputs, a scope, a collection and a named tensor."""
    v1.add_to_collection("my_features", features["age"])
    x = tf.reshape(features["x"], [-1, 28, 28, 1])
    x = lw.layers.conv2d(x, 2, [5, 5], strides=4, padding="same", activation=tf.nn.relu)
    x = lw.layers.conv2d(x, 3, [3, 3], padding="same", activation=tf.nn.relu)
    x = lw.layers.flatten(lw.layers.max_pooling2d(x, [2, 2], 2))
    x = lw.layers.dropout(x, 0.4, training=mode == TRAIN)
    sequence = tf.reshape(features["x"], [-1, 28, 28])[:, :3]
    steps, _ = v1.nn.dynamic_rnn(lw.rnn_cell.LSTMCell(4), sequence, dtype=tf.float32)
    x = tf.concat([x, steps[:, -1], features["age"] / 80], axis=1)
    with v1.variable_scope("encoder"):
        x = lw.layers.dense(x, 6, activation=tf.nn.relu)
    shared = lw.layers.Dense(6, activation=tf.nn.tanh, name="shared")
    x = shared(shared(x))
    x = lw.layers.dense(x, 5, activation=tf.nn.relu, name="hidden")
    return finished(lw.layers.dense(x, 10), labels, mode)


def mlp(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """Two hidden layers with dropout between."""
    x = lw.layers.dense(features["x"], 16, activation=tf.nn.relu)
    x = lw.layers.dropout(x, 0.4, training=mode == TRAIN)
    x = lw.layers.dense(x, 8, activation=tf.nn.tanh)
    return finished(lw.layers.dense(x, 10), labels, mode)


def cnn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """Two convolutions with pooling, a dense layer, dropout."""
    x = tf.reshape(features["x"], [-1, 28, 28, 1])
    for filters in (3, 4):
        x = lw.layers.conv2d(x, filters, kernel_size=[5, 5], padding="same", activation=tf.nn.relu)
        x = lw.layers.max_pooling2d(x, pool_size=[2, 2], strides=2)
    x = lw.layers.dense(lw.layers.flatten(x), 16, activation=tf.nn.relu)
    x = lw.layers.dropout(x, rate=0.4, training=mode == TRAIN)
    return finished(lw.layers.dense(x, 10), labels, mode)


def lstm(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """A recurrent network over the rows of the image."""
    rows = tf.reshape(features["x"], [-1, 28, 28])
    steps, _ = v1.nn.dynamic_rnn(lw.rnn_cell.LSTMCell(6), rows, dtype=tf.float32)
    return finished(lw.layers.dense(steps[:, -1], 10), labels, mode)


def keras_net(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """Keras layers with statistics of their own and randomness."""
    x = keras.layers.Dense(12, activation="relu")(features["x"])
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.Dropout(0.3)(x)
    return finished(keras.layers.Dense(10)(x), labels, mode)


def columns_net(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """Feature columns: a number, and a string by its embedding and its indicator."""
    column = tf.feature_column
    city = column.categorical_column_with_vocabulary_list("city", ["Ulm", "Bonn", "Kiel"])
    columns = [column.numeric_column("age"), column.indicator_column(city), column.embedding_column(city, 3)]
    x = v1.feature_column.input_layer(features, columns)
    return finished(lw.layers.dense(lw.layers.dense(x, 6, tf.nn.relu), 10), labels, mode)


def estimator(model_fn: Any, model_dir: Any, **settings: Any) -> lw.Estimator:
    """An Estimator with a seed that writes no summaries; `settings` are those of `RunConfig`."""
    chosen = {"tf_random_seed": 7, "save_summary_steps": None, "log_step_count_steps": None, **settings}
    return lw.Estimator(model_fn, model_dir=str(model_dir), config=lw.RunConfig(**chosen))


def program(model_fn: Any, mode: str, input_fn: Any = once) -> Program:
    """The graph of one mode."""
    return build(Recipe(model_fn, input_fn, mode, {}, lw.RunConfig(tf_random_seed=7)))


def paths(built: Program, *sections: str) -> list[str]:
    """The paths of some sections, among all that a function may choose from, as in `Watch(lambda entry: ...)`."""
    everything = select(Catalogue(built), lambda entry: True, "here")
    return [choice.key for choice in everything if choice.entry.section in sections]
