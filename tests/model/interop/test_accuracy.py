"""A Keras model with batch normalisation and dropout learns in an Estimator what it learns in `Model.fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from sklearn.datasets import load_digits
from tests.model.interop.builds import estimator, keras, v1

import lightwell as lw
from lightwell.model.optimizers import minimize

L = keras.layers
EPOCHS = 6


def digits() -> tuple[Any, Any, Any, Any]:
    images, labels = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32)
    order = np.random.RandomState(0).permutation(len(images))
    train, test = order[:1300], order[1300:]
    return images[train], labels[train], images[test], labels[test]


def network() -> Any:
    return keras.Sequential(
        [L.Dense(64, activation="relu"), L.BatchNormalization(), L.Dropout(0.3), L.Dense(10)], name="digits"
    )


def fitted(seed: int) -> float:
    images, labels, test_images, test_labels = digits()
    keras.utils.set_random_seed(seed)
    model = network()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(0.003), loss, metrics=["accuracy"], jit_compile=False)
    model.fit(images, labels, batch_size=32, epochs=EPOCHS, verbose=0)
    return float(model.evaluate(test_images, test_labels, verbose=0)[1])


def model_fn(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    logits = network()(features)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    accuracy.update_state(labels, logits)
    train_op = minimize(keras.optimizers.Adam(0.003), loss) if mode == lw.ModeKeys.TRAIN else None
    return lw.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy})


def estimated(model_dir: Path, seed: int) -> float:
    images, labels, test_images, test_labels = digits()

    def train() -> Any:
        return tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1300, seed=seed).repeat(EPOCHS).batch(32)

    est = estimator(model_dir, model_fn, seed=seed)
    est.train(train)
    return float(
        est.evaluate(lambda: tf.data.Dataset.from_tensor_slices((test_images, test_labels)).batch(64))["accuracy"]
    )


def test_it_learns_as_well_as_in_fit(tmp_path: Path) -> None:
    reached = estimated(tmp_path, seed=1)
    assert reached > 0.95
    assert abs(reached - fitted(seed=1)) < 0.02


@pytest.mark.slow
def test_it_learns_as_well_as_in_fit_over_seeds(tmp_path: Path) -> None:
    ours = [estimated(tmp_path / str(seed), seed) for seed in (1, 2, 3)]
    theirs = [fitted(seed) for seed in (1, 2, 3)]
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.01
