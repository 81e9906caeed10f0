"""A model that is trained for a few steps, converted, and held against `predict`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import lightwell as lw

v1 = tf.compat.v1
ROWS = 12
RANDOM = np.random.RandomState(7)
NUMBERS = {"x": RANDOM.randn(ROWS, 8).astype("float32")}
IMAGES = {"image": RANDOM.randn(ROWS, 8, 8, 3).astype("float32")}
SEQUENCES = {"steps": RANDOM.randn(ROWS, 5, 3).astype("float32")}
WORDS = {"ids": RANDOM.randint(0, 10, (ROWS, 6))}

Net = Callable[[Any, bool], Any]
"""Predictions from features, told whether it trains."""


def estimator(net: Net, model_dir: Path, **settings: Any) -> lw.Estimator:
    """An Estimator of a net, which learns to give 0.5 in its first prediction with fractions."""

    def net_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
        predictions = net(features, mode == lw.ModeKeys.TRAIN)
        if mode == lw.ModeKeys.PREDICT:
            return lw.EstimatorSpec(mode, predictions=predictions)
        first = next(tensor for tensor in tf.nest.flatten(predictions) if tensor.dtype.is_floating)
        loss = tf.reduce_mean(tf.square(tf.cast(first, tf.float32) - 0.5))
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train_op = v1.train.AdamOptimizer(0.01).minimize(loss, v1.train.get_global_step())
        return lw.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return lw.Estimator(net_fn, str(model_dir), **settings)


def once(features: Any, batch: int = 4) -> Callable[[], Any]:
    """An `input_fn` that gives the rows once."""
    return lambda: tf.data.Dataset.from_tensor_slices(features).batch(batch)


def trained(net: Net, features: Any, model_dir: Path, steps: int = 3) -> lw.Estimator:
    """The Estimator after a few steps."""
    labels = np.zeros(ROWS, "float32")
    return estimator(net, model_dir).train(
        lambda: tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(4), steps=steps
    )


def difference(model: Any, made: lw.Estimator, features: Any) -> float:
    """The largest difference between a Keras model and `predict`, over all rows and predictions; relative where values
    are above 1."""
    outputs = model(tf.nest.map_structure(tf.constant, features))
    rows = list(made.predict(once(features)))
    if not isinstance(rows[0], dict):
        outputs, rows = {"": outputs}, [{"": row} for row in rows]
    assert list(outputs) == list(rows[0])
    worst = 0.0
    for key, output in outputs.items():
        expected, got = np.array([row[key] for row in rows]), np.asarray(output)
        assert got.shape == expected.shape
        assert got.dtype.kind == expected.dtype.kind or got.dtype == object
        if got.dtype.kind == "f":
            worst = max(worst, float((np.abs(got - expected) / np.maximum(1, np.abs(expected))).max()))
        else:
            assert np.array_equal(got, expected)
    return worst


def converted(net: Net, features: Any, model_dir: Path) -> tuple[Any, lw.Estimator]:
    """The Keras model of a net that was trained, after all that must hold for each: it gives what `predict` gives, and
    goes on doing so when it was saved and loaded."""
    made = trained(net, features, model_dir)
    model = made.to_keras(once(features))
    assert difference(model, made, features) <= 1e-6
    file = str(model_dir / "model.keras")
    model.save(file)
    loaded = keras.saving.load_model(file, custom_objects=lw.keras_objects, safe_mode=False)
    assert difference(loaded, made, features) <= 1e-6
    return model, made


def kinds(model: Any) -> dict[str, str]:
    """Layer name to class name."""
    return {layer.name: type(layer).__name__ for layer in model.layers}
