"""Models of many kinds, small: what each is made of has to survive an export.

Each takes the features of a batch, `x` (rows of 4 numbers) and `word` (a string), and gives one output per row.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
fc = tf.feature_column
WORDS = ["red", "green", "blue"]
X = np.random.default_rng(0).normal(size=[12, 4]).astype(np.float32)
WORD = np.array(["red", "blue", "green", "none"] * 3)
Y = X.sum(axis=1, keepdims=True).astype(np.float32)
Body = Callable[[dict[str, Any], bool, Path], Any]


def data(repeat: int | None = None) -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": X, "word": WORD}, Y)).repeat(repeat).batch(4)


def once() -> Any:
    return data(1)


def parsing() -> Any:
    """A receiver function that is fed serialised examples."""
    spec = {"x": tf.io.FixedLenFeature([4], tf.float32), "word": tf.io.FixedLenFeature([], tf.string)}
    return lw.export.build_parsing_serving_input_receiver_fn(spec)


def examples() -> list[bytes]:
    """The rows, serialised."""
    rows = []
    for x, word in zip(X, WORD, strict=True):
        numbers = tf.train.Feature(float_list=tf.train.FloatList(value=x))
        text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[word.encode()]))
        features = tf.train.Features(feature={"x": numbers, "word": text})
        rows.append(tf.train.Example(features=features).SerializeToString())
    return rows


def old_layers(features: dict[str, Any], training: bool, folder: Path) -> Any:
    hidden = lw.layers.dense(features["x"], 8, activation=tf.nn.relu)
    hidden = lw.layers.batch_normalization(hidden, training=training)
    return lw.layers.dense(lw.layers.dropout(hidden, 0.5, training=training), 1)


def keras_layers(features: dict[str, Any], training: bool, folder: Path) -> Any:
    hidden = keras.layers.Dense(8, activation="relu")(features["x"])
    hidden = keras.layers.BatchNormalization()(hidden, training=training)
    return keras.layers.Dense(1)(keras.layers.Dropout(0.5)(hidden, training=training))


def keras_model(features: dict[str, Any], training: bool, folder: Path) -> Any:
    inner = keras.Sequential([keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(1)])
    return inner(features["x"], training=training)


def keras_lstm(features: dict[str, Any], training: bool, folder: Path) -> Any:
    hidden = keras.layers.LSTM(3)(features["x"][:, :, tf.newaxis])
    return keras.layers.Dense(1)(hidden)


def keras_convolution(features: dict[str, Any], training: bool, folder: Path) -> Any:
    image = tf.reshape(features["x"], [-1, 2, 2, 1])
    hidden = keras.layers.Conv2D(3, 2, padding="same")(image)
    return keras.layers.Dense(1)(keras.layers.Flatten()(hidden))


def keras_words(features: dict[str, Any], training: bool, folder: Path) -> Any:
    places = keras.layers.StringLookup(vocabulary=WORDS)(features["word"])
    return tf.reduce_sum(keras.layers.Embedding(4, 3)(places), axis=1, keepdims=True)


def keras_seeds(features: dict[str, Any], training: bool, folder: Path) -> Any:
    """Draws a number in every mode: the state of the seed is no part of a checkpoint."""
    drawn = keras.random.uniform([], seed=keras.random.SeedGenerator(5))
    return keras.layers.Dense(1)(features["x"]) + 0.0 * drawn


def old_rnn(features: dict[str, Any], training: bool, folder: Path) -> Any:
    cell = lw.rnn_cell.BasicLSTMCell(3)
    outputs, _ = v1.nn.dynamic_rnn(cell, features["x"][:, :, tf.newaxis], dtype=tf.float32)
    return lw.layers.dense(outputs[:, -1], 1)


def columns(features: dict[str, Any], training: bool, folder: Path) -> Any:
    word = fc.categorical_column_with_vocabulary_list("word", WORDS, num_oov_buckets=1)
    made = lw.feature_columns.DenseFeatures([fc.numeric_column("x", [4]), fc.embedding_column(word, 2)])
    return lw.layers.dense(made(features), 1)


def columns_of_a_file(features: dict[str, Any], training: bool, folder: Path) -> Any:
    file = folder / "words.txt"
    file.write_text("\n".join(WORDS))
    word = fc.categorical_column_with_vocabulary_file("word", str(file), num_oov_buckets=1)
    made = v1.feature_column.input_layer(features, [fc.embedding_column(word, 2), fc.numeric_column("x", [4])])
    return lw.layers.dense(made, 1)


def own_table(features: dict[str, Any], training: bool, folder: Path) -> Any:
    file = folder / "own.txt"
    file.write_text("\n".join(WORDS))
    index = tf.lookup.TextFileIndex
    start = tf.lookup.TextFileInitializer(str(file), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    places = tf.lookup.StaticHashTable(start, -1).lookup(features["word"])
    return lw.layers.dense(features["x"], 1) + tf.cast(places, tf.float32)[:, tf.newaxis]


def partitioned(features: dict[str, Any], training: bool, folder: Path) -> Any:
    with v1.variable_scope("parts", partitioner=v1.fixed_size_partitioner(2)):
        weight = v1.get_variable("weight", [4, 1])
    return tf.matmul(features["x"], tf.convert_to_tensor(weight))


def old_variables(features: dict[str, Any], training: bool, folder: Path) -> Any:
    with v1.variable_scope("old", use_resource=False):
        weight = v1.get_variable("weight", [4, 1])
    count = v1.get_local_variable("seen", [], initializer=v1.zeros_initializer())
    return tf.matmul(features["x"], weight) + count


def control_flow(features: dict[str, Any], training: bool, folder: Path) -> Any:
    weight = v1.get_variable("weight", [4, 1])
    rows = tf.map_fn(lambda row: tf.linalg.matvec(weight, row, transpose_a=True), features["x"])
    return tf.cond(tf.size(rows) > 0, lambda: 2.0 * rows, lambda: rows)


def a_function(features: dict[str, Any], training: bool, folder: Path) -> Any:
    weight = v1.get_variable("weight", [4, 1])

    @tf.function
    def times(x: Any) -> Any:
        return tf.matmul(x, weight)

    return times(features["x"])


def big_constant(features: dict[str, Any], training: bool, folder: Path) -> Any:
    return lw.layers.dense(features["x"] * np.linspace(0, 1, 4, dtype=np.float32), 1)


KINDS: dict[str, Body] = {
    body.__name__: body
    for body in (
        old_layers,
        keras_layers,
        keras_model,
        keras_lstm,
        keras_convolution,
        keras_words,
        keras_seeds,
        old_rnn,
        columns,
        columns_of_a_file,
        own_table,
        partitioned,
        old_variables,
        control_flow,
        a_function,
        big_constant,
    )
}


def estimator(kind: str, folder: Path) -> lw.Estimator:
    """An Estimator of a kind, not trained yet."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        output = KINDS[kind](features, mode == lw.ModeKeys.TRAIN, folder)
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, {"output": output})
        loss = tf.reduce_mean(tf.square(output - labels))
        optimizer = keras.optimizers.Adam(0.01) if "keras" in kind else v1.train.AdamOptimizer(0.01)
        return lw.EstimatorSpec(mode, {"output": output}, loss, lw.minimize(optimizer, loss))

    config = lw.RunConfig(model_dir=str(folder / "model"), tf_random_seed=5, save_checkpoints_steps=1000)
    return lw.Estimator(model_fn, config=config)


def trained(kind: str, folder: Path) -> lw.Estimator:
    """One that has been trained a little."""
    made = estimator(kind, folder)
    made.train(data, steps=5)
    return made


def predictions(made: lw.Estimator) -> Any:
    """What it predicts for all rows."""
    return np.array([row["output"] for row in made.predict(once)])
