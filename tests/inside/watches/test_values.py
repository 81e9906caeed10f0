"""Tapped values are the ones a model computes: checked against NumPy, and against a Keras model cut at the layer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tests.inside.paths import models
from tests.inside.paths.models import AGES, IMAGES

import lightwell as lw

v1 = tf.compat.v1


def _stacked(rows: list[Any], path: str) -> Any:
    return np.stack([row[path] for row in rows])


def test_a_dense_layer_is_what_numpy_says(tmp_path: Path) -> None:
    made = models.estimator(models.mlp, tmp_path).train(models.data, steps=3)
    rows = list(made.predict(models.once, taps=["layers/dense", "layers/dense_1/input", "layers/dense_1"]))
    first = np.maximum(IMAGES @ made.layers["dense"].kernel + made.layers["dense"].bias, 0)
    np.testing.assert_allclose(_stacked(rows, "layers/dense"), first, rtol=1e-5, atol=1e-5)
    # Dropout passes its input on in prediction.
    np.testing.assert_array_equal(_stacked(rows, "layers/dense_1/input"), _stacked(rows, "layers/dense"))
    second = np.tanh(first @ made.weights["dense_1/kernel"] + made.weights["dense_1/bias"])
    np.testing.assert_allclose(_stacked(rows, "layers/dense_1"), second, rtol=1e-4, atol=1e-5)


def _network() -> Any:
    given = keras.Input([784])
    x = keras.layers.Reshape([28, 28, 1])(given)
    x = keras.layers.Conv2D(3, 5, strides=2, activation="relu", name="conv")(x)
    x = keras.layers.BatchNormalization(name="norm")(x)
    x = keras.layers.LSTM(4, name="lstm")(keras.layers.Reshape([12, 36])(x))
    return keras.Model(given, keras.layers.Dense(10, name="out")(x), name="net")


def _keras_model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    return models.finished(_network()(features["x"]), labels, mode)


def test_activations_are_those_of_an_equivalent_keras_model(tmp_path: Path) -> None:
    made = models.estimator(_keras_model_fn, tmp_path).train(models.data, steps=3)
    taps = [f"layers/net/{name}" for name in ("conv", "norm", "lstm", "out")]
    rows = list(made.predict(models.once, predict_keys=[], taps=taps))
    network = _network()
    for layer in network.layers:
        if layer.weights:
            names = [f"net/{weight.path}" for weight in layer.weights]
            layer.set_weights([made.weights[name] for name in names])
    cut = keras.Model(network.input, [network.get_layer(path.rpartition("/")[2]).output for path in taps])
    for path, expected in zip(taps, cut(IMAGES), strict=True):
        np.testing.assert_allclose(_stacked(rows, path), expected, rtol=1e-4, atol=1e-5)


def _line(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """y = w · age, with a loss whose gradients can be told by hand."""
    w = v1.get_variable("w", [], initializer=v1.constant_initializer(0.5))
    y = lw.layers.dropout(w * features["age"], 0.5, training=False, name="line")
    loss = tf.reduce_sum(tf.square(y))
    step = v1.train.GradientDescentOptimizer(1e-5).minimize(loss, v1.train.get_global_step())
    return lw.EstimatorSpec(mode, y, loss, step)


def test_gradients_updates_and_weights_are_those_of_their_step(tmp_path: Path) -> None:
    seen: list[Any] = []
    watch = lw.Watch(
        "features/age", "layers/line", "loss", "weights/w", "updates/weights/w", "gradients/weights/w",
        "gradients/layers/line", "gradients/features/age", "global_step",
        at=[1, 3, 4], do=lambda step: seen.append(dict(step)),
    )  # fmt: skip
    models.estimator(_line, tmp_path).train(models.data, steps=5, hooks=[watch])
    ages = AGES.reshape(3, 8, 1)
    w, expected = 0.5, {}
    for step in range(1, 6):
        x = ages[(step - 1) % 3]
        gradient = np.sum(2 * w * x * x)
        expected[step] = (x, w * x, w - 1e-5 * gradient, -1e-5 * gradient, gradient, 2 * w * x, 2 * w * w * x)
        w -= 1e-5 * gradient
    for values, step in zip(seen, (1, 3, 4), strict=True):
        x, y, after, change, slope, slope_of_y, slope_of_x = expected[step]
        assert values["global_step"] == step
        np.testing.assert_array_equal(values["features/age"], x)
        np.testing.assert_allclose(values["layers/line"], y, rtol=1e-5)
        np.testing.assert_allclose(values["loss"], np.sum(np.square(y)), rtol=1e-5)
        np.testing.assert_allclose(values["weights/w"], after, rtol=1e-5)
        np.testing.assert_allclose(values["updates/weights/w"], change, rtol=1e-4)
        np.testing.assert_allclose(values["gradients/weights/w"], slope, rtol=1e-5)
        np.testing.assert_allclose(values["gradients/layers/line"], slope_of_y, rtol=1e-5)
        np.testing.assert_allclose(values["gradients/features/age"], slope_of_x, rtol=1e-5)
