"""What stands between layers: ops of TensorFlow, variables that are no layer's, feature columns, tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.export.keras_model.converting import (
    NUMBERS,
    ROWS,
    SEQUENCES,
    WORDS,
    converted,
    difference,
    kinds,
    trained,
)

import lightwell as lw

v1 = tf.compat.v1
_OURS = {"Value", "Lookup", "TensorFlowOp"}


def common_ops(x: Any) -> dict[str, Any]:
    """Each of these has a counterpart in Keras."""
    cube = tf.reshape(x, [-1, 2, 4])
    left, right = tf.split(x, 2, axis=1)
    one, three = tf.split(x, [2, 6], axis=-1)
    return {
        "arithmetic": (x + 1.5) * x - x / 3.0 + tf.square(-x) + tf.math.squared_difference(x, 2.0),
        "scaled": 2.0 * x * tf.range(8.0) + tf.cast(3 * tf.cast(x, tf.int32), tf.float32),
        "comparison": tf.logical_and(x > 0.1, tf.logical_not(tf.equal(x, 0.5))),
        "where": tf.where(x > 0, x, tf.zeros_like(x)),
        "clipped": tf.maximum(tf.minimum(x, 0.5), -0.5),
        "reduced": tf.reduce_mean(cube, axis=[1, 2]) + tf.reduce_sum(x, 1) + tf.reduce_max(x, axis=-1),
        "kept": tf.reduce_min(x, axis=1, keepdims=True),
        "products": tf.matmul(left + right, tf.ones([3, 4]) * tf.range(4.0), transpose_b=True),
        "batched": tf.matmul(cube, cube, transpose_b=True),
        "einsum": tf.einsum("bij,bkj->bik", cube, cube),
        "joined": tf.concat([left, tf.expand_dims(x[:, 0], 1), right], axis=1),
        "stacked": tf.stack([left, right], axis=1),
        "unstacked": tf.unstack(cube, axis=1)[1],
        "parts": one * tf.reduce_sum(three, axis=1, keepdims=True),
        "turned": tf.transpose(cube, [0, 2, 1]),
        "sliced": x[:, ::-2],
        "ellipsis": cube[..., tf.newaxis, -1],
        "slice": tf.slice(x, [0, 2], [-1, 3]),
        "squeezed": tf.squeeze(tf.expand_dims(x, 2), axis=[2]),
        "gathered": tf.gather(x, [3, 0], axis=1),
        "padded": tf.pad(x, [[0, 0], [1, 2]], constant_values=7.0),
        "tiled": tf.tile(x, [1, 2]),
        "activated": tf.nn.relu(x) + tf.nn.sigmoid(x) + tf.nn.tanh(x) + tf.nn.softplus(x) + tf.nn.leaky_relu(x, 0.3),
        "softmax": tf.nn.softmax(x) - tf.nn.log_softmax(x),
        "best": tf.argmax(x, axis=1, output_type=tf.int32),
        "worst": tf.argmin(x, axis=1),
        "one_hot": tf.one_hot(tf.argmax(x, axis=1), 8),
        "biased": tf.nn.bias_add(x, tf.range(8, dtype=tf.float32)),
        "stopped": tf.stop_gradient(tf.identity(x)),
        "rounded": tf.cast(tf.round(x * 10.0), tf.int64) // 3,
        "normal": tf.nn.l2_normalize(x, axis=1),
        "sum_of_all": tf.add_n([x, x, x]),
    }


def test_ops_that_keras_has_become_its_own(tmp_path: Path) -> None:
    model, made = converted(lambda features, training: common_ops(lw.layers.dense(features["x"], 8)), NUMBERS, tmp_path)
    assert not _OURS & set(kinds(model).values())
    assert difference(keras.saving.load_model(str(tmp_path / "model.keras")), made, NUMBERS) <= 1e-6


def test_ops_that_keras_has_not_run_as_what_they_are(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        x = lw.layers.dense(features["x"], 8)
        values, places = tf.nn.top_k(x, 3)
        table = tf.constant(np.random.RandomState(3).rand(8, 300).astype("float32"))
        return {
            "values": values,
            "places": places,
            "dynamic": tf.reshape(x, tf.stack([tf.shape(x)[0], -1, 2])),
            "hashed": tf.strings.to_hash_bucket_fast(tf.strings.join([features["name"], "!"]), 100),
            "name": features["name"],
            "filled": tf.fill(tf.shape(x), 2.0) + tf.reverse(x, [1]),
            "image": tf.image.resize(tf.reshape(x, [-1, 2, 2, 2]), [3, 3]),
            "large": tf.math.cumsum(tf.matmul(x, table), axis=1, reverse=True),
            "gathered": tf.gather(x, places, batch_dims=1),
        }

    features = {**NUMBERS, "name": np.array([b"ab", b"c\xff"] * (ROWS // 2))}
    model, _ = converted(net, features, tmp_path)
    assert "TensorFlowOp" in kinds(model).values()


def test_sizes_that_only_the_data_tell_stay_open(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        steps = features["steps"]
        flat = tf.reshape(steps, [tf.shape(steps)[0] * tf.shape(steps)[1], 3])
        shared = tf.reshape(lw.layers.dense(flat, 4), [tf.shape(steps)[0], tf.shape(steps)[1], 4])
        return {"out": tf.reduce_sum(shared, axis=1) / tf.cast(tf.shape(steps)[1], tf.float32)}

    made = trained(net, SEQUENCES, tmp_path)
    model = made.to_keras({"steps": tf.TensorSpec([None, None, 3])})
    assert tuple(model.input["steps"].shape) == (None, None, 3)
    for rows, steps in [(1, 2), (12, 7)]:
        assert (
            difference(model, made, {"steps": np.random.RandomState(0).rand(rows, steps, 3).astype("float32")}) <= 1e-6
        )


def test_variables_without_a_layer(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        weights = v1.get_variable("hidden/weights", [8, 4])
        bias = v1.get_variable("hidden/bias", [4], use_resource=False)
        frozen = v1.get_variable("frozen", [], initializer=v1.constant_initializer(3.0), trainable=False)
        return tf.nn.sigmoid(tf.matmul(features["x"], weights) + bias) * frozen

    model, made = converted(net, NUMBERS, tmp_path)
    assert kinds(model) == {"x": "InputLayer", "hidden_weights": "Value", "hidden_bias": "Value", "frozen": "Value"}
    np.testing.assert_array_equal(model.get_layer("hidden_weights").value, made.weights["hidden/weights"])
    assert {weight.path for weight in model.trainable_weights} == {"hidden_weights/value", "hidden_bias/value"}


def test_rows_of_a_table_of_weights_are_an_embedding(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        table = v1.get_variable("words/table", [10, 4])
        found = tf.nn.embedding_lookup(table, features["ids"])
        return {"out": tf.reduce_mean(found, axis=1), "first": tf.nn.embedding_lookup(table, features["ids"][:, 0])}

    model, made = converted(net, WORDS, tmp_path)
    assert kinds(model)["words_table"] == "Embedding"
    assert model.count_params() == 40
    np.testing.assert_array_equal(model.get_layer("words_table").embeddings, made.weights["words/table"])


def test_feature_columns_with_vocabularies_and_buckets(tmp_path: Path) -> None:
    column = tf.feature_column
    vocabulary = column.categorical_column_with_vocabulary_list("name", ["ab", "c"], num_oov_buckets=2)
    columns = [
        column.numeric_column("x", shape=8),
        column.embedding_column(vocabulary, 3),
        column.indicator_column(column.bucketized_column(column.numeric_column("age"), [1.0, 4.0])),
    ]

    def net(features: Any, training: bool) -> Any:
        return {"out": lw.layers.dense(lw.feature_columns.DenseFeatures(columns)(features), 2)}

    names = np.array([b"ab", b"c", b"other"] * (ROWS // 3))
    model, _ = converted(net, {**NUMBERS, "name": names, "age": np.arange(ROWS, dtype="float32")}, tmp_path)
    assert "Lookup" in kinds(model).values()


def test_an_unrolled_recurrent_cell(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        steps = tf.unstack(features["steps"], axis=1)
        return {"out": v1.nn.static_rnn(lw.rnn_cell.LSTMCell(3), steps, dtype=tf.float32)[0][-1]}

    converted(net, SEQUENCES, tmp_path)


def test_predictions_that_are_features_or_the_same_for_all(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        out = lw.layers.dense(features["x"], 2)
        return {"x": features["x"], "out": out, "again": out, "one": tf.ones([4, 2])}

    made = trained(net, NUMBERS, tmp_path)
    model = made.to_keras({"x": NUMBERS["x"]})
    outputs = model({"x": NUMBERS["x"][:4]})
    rows = list(made.predict(lambda: tf.data.Dataset.from_tensor_slices(NUMBERS).batch(4)))[:4]
    for key in ("x", "out", "again", "one"):
        np.testing.assert_allclose(outputs[key], [row[key] for row in rows], atol=1e-6)


@pytest.mark.parametrize("key", ["dense/out", "dense"])
def test_keys_that_keras_would_not_take_for_names(tmp_path: Path, key: str) -> None:
    model, _ = converted(lambda features, training: {key: lw.layers.dense(features["x"], 2)}, NUMBERS, tmp_path)
    assert list(model.output) == [key]
