"""Variables are named by their layers, and by nothing that happened before in the process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import children
from tests.model.interop.builds import batches, built, classifier, estimator, keras

import lightwell as lw

L = keras.layers


def flat(x: Any) -> Any:
    x = L.Dense(4, activation="relu")(x)
    x = L.BatchNormalization()(x)
    x = L.Dropout(0.5)(x)
    return L.Dense(2)(x)


def sequential(x: Any) -> Any:
    layers = [L.Dense(4), keras.Sequential([L.Dropout(0.1), L.Dense(3)], name="inner"), L.Dense(2)]
    return keras.Sequential(layers, name="encoder")(x)


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__(name="net")
        self.hidden = L.Dense(4)
        self.out = L.Dense(2, name="out")

    def call(self, x: Any) -> Any:
        return self.out(self.hidden(x))


class Block(L.Layer):
    """Weights of its own, made in `build`, around a layer."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inside = L.Dense(2)

    def build(self, shape: Any) -> None:
        self.scale = self.add_weight(name="scale", shape=(2,), initializer="ones")
        super().build(shape)

    def call(self, x: Any) -> Any:
        return self.inside(x) * self.scale


FLAT = ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]
STATISTICS = [f"batch_normalization/{name}" for name in ("gamma", "beta", "moving_mean", "moving_variance")]


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        (flat, FLAT[:2] + STATISTICS + FLAT[2:]),
        (
            sequential,
            [
                *["encoder/dense/kernel", "encoder/dense/bias", "encoder/inner/dense_1/kernel"],
                *["encoder/inner/dense_1/bias", "encoder/dense_2/kernel", "encoder/dense_2/bias"],
            ],
        ),
        (lambda x: Subclassed()(x), ["net/dense/kernel", "net/dense/bias", "net/out/kernel", "net/out/bias"]),
        (lambda x: Block()(x), ["block/scale", "block/dense/kernel", "block/dense/bias"]),
    ],
    ids=["flat", "sequential", "subclassed", "block"],
)
def test_names_are_paths_of_layers(network: Callable[[Any], Any], expected: list[str]) -> None:
    for mode in (lw.ModeKeys.TRAIN, lw.ModeKeys.EVAL, lw.ModeKeys.PREDICT):
        assert built(network, mode=mode).variables == expected


def test_names_below_scopes_are_those_of_tensorflow_2_15() -> None:
    def network(x: Any) -> Any:
        with tf.name_scope("tower"):
            x = L.Dense(3)(x)
        with tf.compat.v1.variable_scope("head"):
            return L.Dense(2)(x)

    assert built(network).variables == [
        "tower/dense/kernel",
        "tower/dense/bias",
        "head/dense_1/kernel",
        "head/dense_1/bias",
    ]


def test_functional_and_keras_layers_do_not_meet_in_one_name() -> None:
    def network(x: Any) -> Any:
        x = lw.layers.dense(x, 4)
        x = L.Dense(3)(x)
        return lw.layers.dense(x, 2)

    names = built(network).variables
    assert [name for name in names if name.endswith("kernel")] == ["dense/kernel", "dense_1/kernel", "dense_2/kernel"]


_OTHER_PROCESS = """
import sys
from tests.model.interop.builds import batches, classifier, estimator
from tests.model.interop.test_names import flat
est = estimator(sys.argv[1], classifier(flat))
print("LOGITS", next(iter(est.predict(batches(repeat=1))))["logits"].tolist())
est.evaluate(batches(repeat=1))
est.train(batches(), steps=1)
print("NAMES", sorted(est.get_variable_names()))
"""


def test_the_checkpoint_has_the_same_names_in_any_order_and_process(tmp_path: Path) -> None:
    est = estimator(tmp_path, classifier(flat))
    est.train(batches(), steps=1)
    names = sorted(est.get_variable_names())
    for _ in range(3):  # layers of the program's own move Keras' counters
        L.Dense(1)
    est.evaluate(batches(repeat=1))
    logits = next(iter(est.predict(batches(repeat=1))))["logits"].tolist()
    est.train(batches(), steps=1)
    assert sorted(est.get_variable_names()) == names
    assert L.Dense(1).name.startswith("dense_"), "the program's own counters went on"

    other = estimator(tmp_path / "other", classifier(flat))
    other.train(batches(), steps=1)
    done = subprocess.run(
        [sys.executable, "-c", _OTHER_PROCESS, str(tmp_path / "other")],
        capture_output=True,
        text=True,
        check=False,
        env={**_environment(), "PYTHONPATH": children.search_path(*sys.path)},
        cwd=Path(__file__).parents[3],
    )
    assert done.returncode == 0, done.stderr
    assert f"NAMES {names}" in done.stdout
    assert f"LOGITS {logits}" in done.stdout


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if name.startswith(("PATH", "TF_", "LD_", "HOME"))}
