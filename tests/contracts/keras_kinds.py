"""Kinds of state that only Keras 3 brings, in the form of `tests.parity.fresh_kinds`.

Run as a program, it answers for all of them in a process of its own: `python -m tests.contracts.keras_kinds folder`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from tests.faces import FUSED
from tests.parity import fresh_scenes
from tests.parity.fresh_kinds import Kind, Maker


def _dropout(folder: Path) -> Kind:
    return Kind(lambda x: keras.layers.Dropout(0.5, seed=3)(x, training=True), trained=True)


def _noise(folder: Path) -> Kind:
    return Kind(lambda x: keras.layers.GaussianNoise(1.0, seed=4)(x, training=True), trained=True)


def _seed_generator(folder: Path) -> Kind:
    def body(x: Any) -> Any:
        seeds = keras.random.SeedGenerator(5)
        return x + keras.random.uniform([], seed=seeds) + keras.random.uniform([], seed=seeds)

    return Kind(body, trained=True)


def _batch_statistics(folder: Path) -> Kind:
    def body(x: Any) -> Any:
        return x + keras.layers.BatchNormalization()(x[:, tf.newaxis], training=True)[:, 0]

    return Kind(body, trained=True)


KERAS_KINDS: dict[str, Maker] = {
    "dropout that is always on": _dropout,
    "noise that is always on": _noise,
    "a seed generator": _seed_generator,
    "batch normalization that always learns": _batch_statistics,
}


def all_answers(folder: Path) -> dict[str, Any]:
    """Kind to verb to the answers of its calls."""
    return {
        name: {
            verb: fresh_scenes.answers(FUSED, folder / f"{number} {verb}", make, ask)
            for verb, ask in fresh_scenes.VERBS.items()
        }
        for number, (name, make) in enumerate(KERAS_KINDS.items())
    }


if __name__ == "__main__":
    print(json.dumps(all_answers(Path(sys.argv[1]))))
