"""Models of `lightwell.layers` become models of Keras' own layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from tests.estimator.export.keras_model.converting import (
    IMAGES,
    NUMBERS,
    ROWS,
    SEQUENCES,
    converted,
    difference,
    kinds,
    trained,
)

import lightwell as lw

_OURS = {"Value", "Lookup", "TensorFlowOp"}


def digits(features: Any, training: bool) -> Any:
    images = tf.reshape(features["x"], [-1, 28, 28, 1])
    first = lw.layers.conv2d(images, 4, [5, 5], padding="same", activation=tf.nn.relu)
    pooled = lw.layers.max_pooling2d(first, pool_size=[2, 2], strides=2)
    second = lw.layers.conv2d(pooled, 8, [5, 5], padding="same", activation=tf.nn.relu)
    pooled = lw.layers.max_pooling2d(second, pool_size=[2, 2], strides=2)
    dense = lw.layers.dense(tf.reshape(pooled, [-1, 7 * 7 * 8]), 16, activation=tf.nn.relu)
    dropped = lw.layers.dropout(dense, rate=0.4, training=training)
    logits = lw.layers.dense(dropped, 10, name="logits")
    return {
        "probabilities": tf.nn.softmax(logits, name="softmax_tensor"),
        "classes": tf.argmax(input=logits, axis=1),
    }


DIGITS = {"x": np.random.RandomState(1).rand(ROWS, 784).astype("float32")}


def test_the_digit_network(tmp_path: Path) -> None:
    model, made = converted(digits, DIGITS, tmp_path)
    assert kinds(model) == {
        "x": "InputLayer",
        "conv2d": "Conv2D",
        "max_pooling2d": "MaxPooling2D",
        "conv2d_1": "Conv2D",
        "max_pooling2d_1": "MaxPooling2D",
        "dense": "Dense",
        "dropout": "Dropout",
        "logits": "Dense",
        "classes": "Identity",
        "probabilities": "Identity",
    }
    assert model.name == "net_fn"
    assert model.get_layer("conv2d").activation is keras.activations.relu
    np.testing.assert_array_equal(model.get_layer("logits").kernel, made.weights["logits/kernel"])


def test_the_digit_network_needs_nothing_but_keras_when_it_is_loaded(tmp_path: Path) -> None:
    model, made = converted(digits, DIGITS, tmp_path)
    assert not _OURS & set(kinds(model).values())
    assert difference(keras.saving.load_model(str(tmp_path / "model.keras")), made, DIGITS) <= 1e-6


def images(features: Any, training: bool) -> Any:
    up = lw.layers.conv2d_transpose(features["image"], 4, 3, strides=2, padding="same", name="up")
    wide = lw.layers.separable_conv2d(up, 5, 3, activation=tf.nn.elu, depth_multiplier=2, name="wide")
    pooled = lw.layers.average_pooling2d(wide, 2, 2, padding="same")
    far = lw.layers.conv2d(pooled, 3, 3, dilation_rate=2, use_bias=False, activation="tanh", name="far")
    with tf.compat.v1.variable_scope("tower"):
        normal = lw.layers.batch_normalization(far, training=training, momentum=0.5, epsilon=0.01, scale=False)
    return {"flat": lw.layers.flatten(normal), "dense": lw.layers.dense(normal, 2, kernel_regularizer="l2")}


def test_layers_of_images(tmp_path: Path) -> None:
    model, made = converted(images, IMAGES, tmp_path)
    found = kinds(model)
    assert found["up"] == "Conv2DTranspose"
    assert found["wide"] == "SeparableConv2D"
    assert found["average_pooling2d"] == "AveragePooling2D"
    assert found["flatten"] == "Flatten"
    assert not _OURS & set(found.values())
    normal = model.get_layer("tower_batch_normalization")
    assert (normal.momentum, normal.epsilon, normal.center, normal.scale) == (0.5, 0.01, True, False)
    np.testing.assert_array_equal(normal.moving_mean, made.weights["tower/batch_normalization/moving_mean"])
    assert np.abs(normal.moving_mean).max() > 0


def sequences(features: Any, training: bool) -> Any:
    past = lw.layers.conv1d(features["steps"], 4, 3, padding="causal", name="past")
    apart = lw.layers.separable_conv1d(past, 6, 2, strides=2, name="apart")
    return lw.layers.dense(lw.layers.max_pooling1d(apart, 2, 1), 2)


def test_layers_of_sequences_and_one_tensor_as_predictions(tmp_path: Path) -> None:
    model, _ = converted(sequences, SEQUENCES, tmp_path)
    assert list(kinds(model).values()) == ["InputLayer", "Conv1D", "SeparableConv1D", "MaxPooling1D", "Dense"]


@pytest.mark.parametrize("rank", [2, 4])
def test_statistics_of_the_batch_in_predict_stay_such(tmp_path: Path, rank: int) -> None:
    """A call with training=True in every mode, a common slip, is part of what predict gives."""

    def net(features: Any, training: bool) -> Any:
        inputs = features["x"] if rank == 2 else tf.reshape(features["x"], [-1, 2, 2, 2])
        return {"out": lw.layers.dense(lw.layers.batch_normalization(inputs, training=True), 2)}

    made = trained(net, NUMBERS, tmp_path)
    model = made.to_keras({"x": NUMBERS["x"]})
    rows = made.predict(lambda: tf.data.Dataset.from_tensor_slices(NUMBERS).batch(ROWS))
    expected = np.array([row["out"] for row in rows])
    np.testing.assert_allclose(model(NUMBERS)["out"], expected, atol=1e-6)


def test_variables_that_are_shared_by_name_are_one_layer(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        first = lw.layers.dense(features["x"], 8, activation=tf.nn.relu, name="shared")
        return {"out": lw.layers.dense(first, 8, activation=tf.nn.relu, name="shared", reuse=True)}

    model, _ = converted(net, NUMBERS, tmp_path)
    assert list(kinds(model)) == ["x", "shared", "out"]
    assert model.count_params() == 8 * 8 + 8


def test_variables_of_layers_that_differ_start_equal_and_that_is_told(tmp_path: Path, log: Any) -> None:
    def net(features: Any, training: bool) -> Any:
        first = lw.layers.dense(features["x"], 8, activation=tf.nn.relu, name="shared")
        return {"out": lw.layers.dense(first, 8, activation=None, name="shared", reuse=True)}

    converted(net, NUMBERS, tmp_path)
    (line, *_) = log.having("'shared/kernel' is one variable in the Estimator")
    assert "'shared' and 'shared_1' each have it as a weight of their own" in line
    assert "would train them apart" in line


def test_what_keras_has_no_layer_for_is_looked_through(tmp_path: Path) -> None:
    """A function of the user's as activation, batch renormalization, variables in parts, a layer of the user's own."""

    class Scale(lw.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.scale = self.add_weight("scale", [input_shape[-1]], initializer="ones")

        def call(self, inputs: Any) -> Any:
            return inputs * self.scale

    def net(features: Any, training: bool) -> Any:
        own = lw.layers.dense(features["x"], 6, activation=lambda x: x * tf.sigmoid(x), name="own")
        scaled = Scale(name="scaled")(own)
        normal = lw.layers.batch_normalization(scaled, training=training, renorm=True)
        with tf.compat.v1.variable_scope("p", partitioner=tf.compat.v1.fixed_size_partitioner(2)):
            parts = lw.layers.dense(normal, 4, name="parts")
        return {"out": lw.layers.dense(parts, 2, name="last")}

    model, made = converted(net, NUMBERS, tmp_path)
    found = kinds(model)
    assert found["last"] == "Dense"
    assert found["own_kernel"] == "Value"
    np.testing.assert_array_equal(model.get_layer("own_kernel").value, made.weights["own/kernel"])
    assert model.get_layer("own_kernel").trainable
    assert not model.get_layer("batch_normalization_moving_mean").trainable


def test_numbers_of_other_types(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        return {"double": lw.layers.dense(features["double"], 3), "half": tf.cast(features["whole"], tf.float16) / 2}

    features = {"double": NUMBERS["x"].astype("float64"), "whole": np.arange(ROWS, dtype="int32")}
    model, _ = converted(net, features, tmp_path)
    assert model.output["double"].dtype == "float64"
    assert model.output["half"].dtype == "float16"
