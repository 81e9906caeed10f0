"""Keras layers in input_fn: augmentation draws anew from the graph's seed, and leaves nothing in the checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import LEGACY, classifier, estimator, keras

L = keras.layers
IMAGES = np.random.RandomState(0).rand(32, 4, 4, 1).astype(np.float32)


def images() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"x": IMAGES}, np.arange(32) % 2)).batch(16)


def flipped_in_the_pipeline() -> Any:
    flip = L.RandomFlip()
    return images().map(lambda features, label: ({"x": flip(features["x"], training=True)}, label)).repeat(2)


def flipped_as_a_batch() -> Any:
    features, label = tf.compat.v1.data.make_one_shot_iterator(images().repeat(2)).get_next()
    return {"x": L.RandomFlip()(features["x"], training=True)}, label


WAYS: dict[str, Callable[[], Any]] = {"pipeline": flipped_in_the_pipeline}
if not LEGACY:  # tf_keras keeps the state of its generators in variables of the model's graph
    WAYS["batch"] = flipped_as_a_batch


def model(x: Any) -> Any:
    tf.identity(x, name="seen")
    return L.Dense(2)(L.Flatten()(x))


class Seen(tf.compat.v1.train.SessionRunHook):
    def __init__(self) -> None:
        self.batches: list[np.ndarray] = []

    def before_run(self, run_context: Any) -> Any:
        return tf.compat.v1.train.SessionRunArgs("seen:0")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.batches.append(run_values.results)


@pytest.mark.filterwarnings("ignore:Seed 1 from outer graph")  # tf_keras gives its random operations no seed
@pytest.mark.parametrize("way", WAYS)
def test_augmentation(tmp_path: Path, way: str) -> None:
    def trained(name: str) -> list[np.ndarray]:
        hook = Seen()
        est = estimator(tmp_path / name, classifier(model))
        est.train(WAYS[way], hooks=[hook])
        names = [name for name in est.get_variable_names() if "SGD" not in name]  # tf_keras makes slots it does not use
        assert sorted(names) == ["dense/bias", "dense/kernel", "global_step"]
        est.evaluate(images)
        return hook.batches

    first = trained("a")
    assert len(first) == 4
    assert not np.array_equal(first[:2], first[2:]), "the second round is flipped in another way"
    np.testing.assert_array_equal(first, trained("b"))
