"""Programs that fail while they run, each in one line that ends with a remark: `# fails: its name`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1
# An index out of range is an error on a CPU; a GPU reads zeros there.
HOST = "/cpu:0"


def line_of(name: str) -> str:
    """How a text tells the line that fails."""
    for number, line in enumerate(Path(__file__).read_text().splitlines(), start=1):
        if line.endswith(f"# fails: {name}"):
            return f'File "{__file__}", line {number}, in '
    raise LookupError(name)


def model(middle: Callable[[Any], Any]) -> Any:
    """The tiny model with something between features and output."""

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        return tiny.linear({"x": middle(features["x"])}, labels, mode, {})

    return model_fn


def lookup(x: Any) -> Any:
    with tf.device(HOST):
        table = v1.get_variable("table", [3])
        rows = tf.cast(x, tf.int32, name="rows")
        return tf.gather(table, rows)  # fails: lookup


def late_lookup(x: Any) -> Any:
    with tf.device(HOST):
        table = v1.get_variable("table", [30])
        rows = tf.cast(x, tf.int32) + tf.cast(v1.train.get_or_create_global_step(), tf.int32)
        return tf.gather(table, rows)  # fails: late lookup


def in_a_layer(x: Any) -> Any:
    hidden = lw.layers.dense(x[:, tf.newaxis], 2, name="wide")
    lengths = v1.placeholder_with_default(np.ones([5], np.float32), [None])

    def stretch(values: Any) -> Any:
        return values * lengths[:, tf.newaxis]  # fails: layer

    return tf.reduce_sum(lw.layers.dense(hidden, 2, activation=stretch, name="stretched"), 1)


def branch(x: Any) -> Any:
    with tf.device(HOST):
        table = v1.get_variable("table", [3])
        return tf.cond(
            x[0] > 4,
            lambda: tf.gather(table, tf.cast(x, tf.int32)),  # fails: branch
            lambda: x,
        )


def function(x: Any) -> Any:
    with tf.device(HOST):
        table = v1.get_variable("table", [3])

        @tf.function
        def find(values: Any) -> Any:
            return tf.gather(table, tf.cast(values, tf.int32))  # fails: function

        return find(x)


def own_gradient(x: Any) -> Any:
    @tf.custom_gradient
    def twice(value: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            return tf.debugging.check_numerics(upstream / 0.0, "bad gradient")  # fails: own gradient

        return 2 * value, gradient

    return twice(x * v1.get_variable("scale", [], initializer=v1.ones_initializer()))


def gradient_of(x: Any) -> Any:
    lengths = v1.placeholder_with_default(np.ones([5], np.float32), [None])
    total = tf.add(x, lengths, name="total")  # fails: gradient of
    return tf.gradients(total, x, tf.ones_like(x))[0] * v1.get_variable("scale", [])


def unfed(x: Any) -> Any:
    return x * v1.placeholder(tf.float32, [], name="rate")  # fails: unfed


def on_missing_device(x: Any) -> Any:
    with tf.device("/gpu:7"):
        weight = v1.get_variable("far", [], initializer=v1.ones_initializer())  # fails: device
        return x * weight


def vocabulary(x: Any) -> Any:
    words = tf.lookup.TextFileInitializer(
        "/nowhere/words.txt",
        tf.string,
        tf.lookup.TextFileIndex.WHOLE_LINE,
        tf.int64,
        tf.lookup.TextFileIndex.LINE_NUMBER,
    )
    table = tf.lookup.StaticVocabularyTable(words, 1)  # fails: vocabulary
    return x + tf.cast(table.lookup(tf.strings.as_string(x)), tf.float32)


def huge(x: Any) -> Any:
    table = v1.get_variable("huge", [2**42], initializer=v1.constant_initializer(0.5))  # fails: huge
    return x + tf.gather(table, [0])


def mapped() -> Any:
    def logarithm(features: Any, labels: Any) -> Any:
        x = tf.math.log(features["x"] - 3)
        return {"x": tf.debugging.check_numerics(x, "in the map")}, labels  # fails: map

    return tiny.data().map(lambda features, labels: (features, labels + 1)).map(logarithm)


def generated() -> Any:
    def rows() -> Any:
        yield {"x": np.float32(1)}, np.float32(2)
        raise RuntimeError("the generator broke")  # fails: generator

    kinds, shapes = ({"x": tf.float32}, tf.float32), ({"x": []}, [])
    return tf.data.Dataset.from_generator(rows, output_types=kinds, output_shapes=shapes).batch(1)


def of_a_missing_file() -> Any:
    records = tf.data.TFRecordDataset("/nowhere/rows.tfrecord")  # fails: file
    return records.map(lambda row: ({"x": tf.cast(tf.strings.length(row), tf.float32)}, 1.0)).batch(2)


def of_unequal_rows() -> Any:
    rows = tf.data.Dataset.range(1, 3).map(lambda n: ({"x": tf.ones([n])}, 1.0))
    rows = rows.batch(2)  # fails: batch
    return rows.map(lambda features, labels: (features, labels))
