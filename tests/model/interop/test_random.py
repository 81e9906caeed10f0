"""Random layers draw anew in each step, each on its own, and all follow the seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import LEGACY, X, batches, built, classifier, estimator, keras

import lightwell as lw

L = keras.layers
ONES = np.ones((8, 16), np.float32)
IMAGES = np.random.RandomState(0).rand(16, 8, 8, 3).astype(np.float32)
NOISY: dict[str, tuple[Callable[[], Any], Any]] = {
    "dropout": (lambda: L.Dropout(0.5), ONES),
    "spatial dropout": (lambda: L.SpatialDropout1D(0.5), ONES[:, :, np.newaxis]),
    "gaussian noise": (lambda: L.GaussianNoise(1.0), ONES),
    "gaussian dropout": (lambda: L.GaussianDropout(0.5), ONES),
    "random flip": (lambda: L.RandomFlip(), IMAGES),
    "random rotation": (lambda: L.RandomRotation(0.3), IMAGES),
}
if not LEGACY:  # tf_keras draws inside the loop, whose rounds overlap
    NOISY["gru"] = (lambda: L.GRU(4, dropout=0.5, recurrent_dropout=0.5), ONES[:, :, np.newaxis])


@pytest.mark.parametrize("kind", NOISY)
def test_each_step_draws_anew_and_the_seed_repeats_it(kind: str) -> None:
    make, inputs = NOISY[kind]
    first = built(lambda x: make()(x), inputs).runs(3)
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[1], first[2])
    np.testing.assert_array_equal(first, built(lambda x: make()(x), inputs).runs(3))
    assert not np.array_equal(first[0], built(lambda x: make()(x), inputs, seed=2).runs()[0])
    still = built(lambda x: make()(x), inputs, mode=lw.ModeKeys.PREDICT).runs(2)
    np.testing.assert_array_equal(still[0], still[1])


def test_two_layers_draw_different_numbers() -> None:
    first, second = built(lambda x: (L.Dropout(0.5)(x), L.Dropout(0.5)(x)), ONES).runs()[0]
    assert not np.array_equal(first, second)


def test_one_layer_called_twice_draws_different_numbers() -> None:
    def network(x: Any) -> Any:
        layer = L.Dropout(0.5, seed=3)
        return layer(x), layer(x)

    first, second = built(network, ONES).runs()[0]
    assert not np.array_equal(first, second)


def test_dropout_switched_on_in_prediction_draws_for_each_batch(tmp_path: Path) -> None:
    est = estimator(tmp_path, classifier(lambda x: L.Dropout(0.5)(L.Dense(8)(x), training=True)[:, :2]))
    est.train(batches(), steps=1)

    def same_row() -> Any:
        return tf.data.Dataset.from_tensors({"x": X[:1]}).repeat(8)

    assert len({tuple(row["logits"]) for row in est.predict(same_row)}) > 2


def test_training_repeats_itself_with_the_seed(tmp_path: Path) -> None:
    def network(x: Any) -> Any:
        return L.Dense(2)(L.Dropout(0.3)(L.Dense(8, activation="relu")(x)))

    def trained(name: str, seed: int) -> np.ndarray:
        est = estimator(tmp_path / name, classifier(network), seed=seed)
        est.train(batches(), steps=4)
        return est.get_variable_value("dense_1/kernel")

    first = trained("a", 5)
    keras.layers.Dropout(0.5)  # what else the program makes does not matter
    np.testing.assert_array_equal(first, trained("b", 5))
    assert not np.array_equal(first, trained("c", 6))
