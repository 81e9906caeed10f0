"""Keras models turned into Estimators: what they give, in a form that both Kerases can build and train.

Takes a `model_to_estimator`; runs on TensorFlow 2.15.1 with Keras 2 and here with Keras 3. Each scene gives plain data.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

keras, v1 = tf.keras, tf.compat.v1
L = keras.layers

X = np.random.RandomState(7).randn(64, 6).astype(np.float32)
Y = (X.sum(axis=1) > 0).astype(np.int32)
LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
STEPS = 20


def with_weights(model: Any) -> Any:
    """The model with trainable weights that do not depend on who draws them."""
    draws = np.random.RandomState(3)
    for weight in model.trainable_weights:
        weight.assign((0.4 * draws.randn(*weight.shape)).astype(np.float32))
    return model


def classifier() -> Any:
    x = keras.Input((6,), name="x")
    hidden = L.BatchNormalization(name="norm")(L.Dense(4, activation="tanh", name="hidden")(x))
    return with_weights(keras.Model(x, L.Dense(2, name="out")(hidden)))


def regularised() -> Any:
    x = keras.Input((6,), name="x")
    hidden = L.Dense(4, activation="relu", name="hidden", kernel_regularizer=keras.regularizers.L2(0.02))(x)
    return with_weights(keras.Model(x, L.Dense(2, name="out")(hidden)))


def two_by_two() -> Any:
    a, b = keras.Input((6,), name="a"), keras.Input((3,), name="b")
    hidden = L.Concatenate()([L.Dense(3, name="left")(a), L.Dense(3, name="right")(b)])
    model = keras.Model([a, b], [L.Dense(1, name="p")(hidden), L.Dense(2, name="q")(hidden)])
    return with_weights(model)


def legacy(optimizer: str, rate: Any) -> Any:
    """The optimizer that an Estimator of 2.15.1 trains with; it turns any other of its own into this one."""
    kinds = keras.optimizers.legacy if tf.__version__.startswith("2.15") else keras.optimizers
    return getattr(kinds, optimizer)(rate)


def rows() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(16)


def pairs() -> Any:
    features = {"a": X, "b": X[:, :3], "unused": X}
    return tf.data.Dataset.from_tensor_slices((features, {"p": X[:, :1], "q": Y})).batch(16)


def weighted_pairs() -> Any:
    weights = np.linspace(0.0, 2.0, 64).astype(np.float32)
    features = {"features": {"a": X, "b": X[:, :3]}, "sample_weights": (weights, weights)}
    return tf.data.Dataset.from_tensor_slices((features, {"p": X[:, :1], "q": Y})).batch(16)


class Losses(v1.train.SessionRunHook):
    """Keeps the loss of every step."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(run_context.session.graph.get_collection(v1.GraphKeys.LOSSES)[-1])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.seen.append(float(run_values.results))


def life_of(model: Any, data: Callable[[], Any], convert: Callable[..., Any], folder: Path) -> dict[str, Any]:
    """Evaluates, trains, evaluates and predicts."""
    est, losses = convert(model, model_dir=str(folder), checkpoint_format="saver"), Losses()
    before = est.evaluate(data)
    est.train(lambda: data().repeat(), steps=STEPS, hooks=[losses])
    after = est.evaluate(data)
    # 2.15.1 cannot predict from features that come with weights.
    row = next(iter(est.predict(pairs if data is weighted_pairs else data)))
    weights = [
        name for name in est.get_variable_names() if name.rpartition("/")[2] in WEIGHTS and "training" not in name
    ]
    return {
        "before": {name: float(value) for name, value in before.items()},
        "losses": losses.seen,
        "after": {name: float(value) for name, value in after.items()},
        "prediction": {name: np.asarray(value).tolist() for name, value in row.items()},
        "weights": sorted(weights),
    }


WEIGHTS = ("kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance")


def _classifier(optimizer: Any) -> Callable[[Callable[..., Any], Path], dict[str, Any]]:
    def run(convert: Callable[..., Any], folder: Path) -> dict[str, Any]:
        model = classifier()
        model.compile(optimizer(), LOGITS, metrics=["accuracy"])
        return life_of(model, rows, convert, folder)

    return run


def _regularised(convert: Callable[..., Any], folder: Path) -> dict[str, Any]:
    model = regularised()
    model.compile(legacy("SGD", 0.1), LOGITS, metrics=["accuracy"])
    return life_of(model, rows, convert, folder)


def _two_by_two(data: Callable[[], Any]) -> Callable[[Callable[..., Any], Path], dict[str, Any]]:
    def run(convert: Callable[..., Any], folder: Path) -> dict[str, Any]:
        model = two_by_two()
        losses, metrics = {"p": "mse", "q": LOGITS}, {"p": ["mae"], "q": ["accuracy"]}
        model.compile(legacy("SGD", 0.05), losses, loss_weights={"p": 0.5, "q": 2.0}, metrics=metrics)
        return life_of(model, data, convert, folder)

    return run


SCENES: dict[str, Callable[[Callable[..., Any], Path], dict[str, Any]]] = {
    "sgd": _classifier(lambda: legacy("SGD", 0.1)),
    "adam": _classifier(lambda: legacy("Adam", 0.02)),
    "schedule": _classifier(lambda: legacy("SGD", keras.optimizers.schedules.ExponentialDecay(0.5, 5, 0.5))),
    "regularised": _regularised,
    "several inputs and outputs": _two_by_two(pairs),
    "sample weights": _two_by_two(weighted_pairs),
}
