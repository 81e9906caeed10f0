"""Keras models of every kind, the data for them, and what Keras itself makes of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

import lightwell as lw

keras = tf.keras
L = keras.layers
LEGACY = "tf_keras" in L.Layer.__module__

X = np.random.RandomState(0).randn(64, 6).astype(np.float32)
Y = (X.sum(axis=1) > 0).astype(np.int32)
LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def rows(size: int = 16) -> Any:
    """X and Y once, in order."""
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(size)


def sequential() -> Any:
    return keras.Sequential(
        [keras.Input((6,)), L.Dense(4, activation="relu"), L.BatchNormalization(), L.Dense(2, name="out")]
    )


def functional() -> Any:
    x = keras.Input((6,), name="x")
    hidden = L.Dense(4, activation="tanh", kernel_regularizer="l2", activity_regularizer="l1")(x)
    return keras.Model(x, L.Dense(2, name="out")(hidden))


def nested() -> Any:
    inner_x = keras.Input((6,))
    encoder = keras.Model(inner_x, L.Dense(4, activation="relu")(inner_x), name="encoder")
    x = keras.Input((6,), name="x")
    return keras.Model(x, L.Dense(2, name="out")(encoder(x)))


def unbuilt() -> Any:
    return keras.Sequential([L.Dense(4, activation="relu"), L.Dense(2, name="out")])


class Subclassed(keras.Model):
    """A model that is code; it has no config of its own and cannot be made from one."""

    def __init__(self, layers: list[Any]) -> None:
        super().__init__()
        self.hidden, self.out = layers

    def call(self, x: Any) -> Any:
        return self.out(self.hidden(x))


def subclassed() -> Any:
    model = Subclassed([L.Dense(4, activation="relu"), L.Dense(2)])
    model(X[:2])
    return model


def unbuilt_subclassed() -> Any:
    return Subclassed([L.Dense(4, activation="relu"), L.Dense(2)])


def convolutional() -> Any:
    x = keras.Input((6,), name="x")
    hidden = L.Conv1D(3, 2, padding="same")(L.Reshape((6, 1))(x))
    hidden = L.LSTM(4)(L.LayerNormalization()(hidden))
    return keras.Model(x, L.Dense(2, name="out")(hidden))


KINDS: dict[str, Callable[[], Any]] = {
    "sequential": sequential,
    "functional": functional,
    "nested": nested,
    "unbuilt": unbuilt,
    "subclassed": subclassed,
    "unbuilt subclassed": unbuilt_subclassed,
    "convolutional": convolutional,
}


def compiled(model: Any, optimizer: Any = "sgd", loss: Any = LOGITS, **settings: Any) -> Any:
    model.compile(optimizer, loss, **{"metrics": ["accuracy"], **settings})
    return model


def fit(model: Any, epochs: int = 1) -> None:
    """Trains the model itself, on all rows in order."""
    model.fit(rows(), epochs=epochs, shuffle=False, verbose=0)


def estimator(model: Any, model_dir: Path | str, **settings: Any) -> lw.Estimator:
    config = lw.RunConfig(model_dir=str(model_dir), tf_random_seed=1, log_step_count_steps=None)
    return lw.model_to_estimator(model, config=config, **settings)


def without_step(metrics: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in metrics.items() if name != "global_step"}


def close(found: dict[str, Any], expected: dict[str, Any], within: float = 1e-5) -> None:
    """Whether two sets of metrics are the same, names and values."""
    found = without_step(found)
    assert sorted(found) == sorted(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=within, atol=within, err_msg=name)


def same_weights(est: lw.Estimator, model: Any, names: list[str], within: float = 1e-5) -> None:
    """Whether the Estimator's variables, by name, are the model's weights, in its order."""
    for name, weight in zip(names, model.get_weights(), strict=True):
        np.testing.assert_allclose(est.get_variable_value(name), weight, rtol=within, atol=within, err_msg=name)
