"""Names are stable: the same in every mode, process and order of calls, for Keras layers too."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from tests import children
from tests.inside.paths import models
from tests.inside.paths.models import EVAL, PREDICT, TRAIN

import lightwell as lw

ROOT = Path(__file__).resolve().parents[3]


def nested(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
    """Keras models inside a Keras model, a layer that is called twice, one with several outputs, beside ours."""

    def block(name: str) -> Any:
        given = keras.Input([8])
        return keras.Model(
            given, keras.layers.Dense(8, name="dense")(keras.layers.BatchNormalization()(given)), name=name
        )

    given = keras.Input([784])
    hidden = block("block_1")(keras.layers.Dense(8)(given))
    hidden = block("block_2")(hidden)
    encoder = keras.Model(given, [hidden, keras.layers.Dense(3, name="side")(hidden)], name="encoder")
    main, side = encoder(features["x"])
    twice = keras.layers.Dense(8, name="twice")
    _, last, _ = keras.layers.LSTM(2, return_sequences=True, return_state=True)(features["x"][:, :6, tf.newaxis])
    x = tf.concat([twice(twice(main)), side, last, lw.layers.dense(features["age"], 2)], axis=1)
    return models.finished(keras.layers.Dense(10)(x), labels, mode)


def paths(mode: str) -> list[str]:
    """All paths of layers and weights in a mode."""
    return models.paths(models.program(nested, mode), "layers", "weights")


def test_the_same_paths_in_any_order_of_modes_and_in_a_fresh_process() -> None:
    keras.layers.Dense(1)  # a layer of the program's own must not shift the numbers
    here = {mode: paths(mode) for mode in (TRAIN, EVAL, PREDICT)}
    again = {mode: paths(mode) for mode in (PREDICT, TRAIN, EVAL)}
    code = (
        "import json, tests.inside.paths.test_names as names\n"
        "print(json.dumps({mode: names.paths(mode) for mode in ('eval', 'infer', 'train')}))"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env=children.environment(ROOT, PYTHONHASHSEED="5"),
    )
    assert here == again == json.loads(there.stdout.splitlines()[-1])
    assert here[TRAIN] == here[EVAL] == here[PREDICT]


def test_nested_and_repeated_layers_have_a_path_each() -> None:
    found = [path for path in paths(TRAIN) if not path.endswith("/input")]
    assert found[:14] == [
        "layers/encoder/dense",
        "layers/encoder/block_1/batch_normalization",
        "layers/encoder/block_1/dense",
        "layers/encoder/block_1",
        "layers/encoder/block_2/batch_normalization_1",
        "layers/encoder/block_2/dense",
        "layers/encoder/block_2",
        "layers/encoder/side",
        "layers/encoder[0]",
        "layers/encoder[1]",
        "layers/lstm[0]",
        "layers/lstm[1]",
        "layers/lstm[2]",
        "layers/twice:0",
    ]
    assert found[14] == "layers/twice:1"
    assert "weights/encoder/block_1/dense/kernel" in found
    assert len(found) == len(set(found))
