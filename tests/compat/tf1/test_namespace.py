"""`from lightwell import tf1 as tf` has the names of TensorFlow 1.15."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow

import lightwell.layers
import lightwell.rnn_cell
from lightwell import tf1 as tf

ORIGINAL = json.loads((Path(__file__).parents[2] / "data/oracle-1.15.5/namespace.json").read_text())

# TensorFlow dropped these from tf.compat.v1; no program in the survey uses them.
DROPPED = {
    "config": {"experimental_list_devices"},
    "data.experimental": {
        "CheckpointInputPipelineHook",
        "MapVectorizationOptions",
        "StatsAggregator",
        "StatsOptions",
        "bytes_produced_stats",
        "latency_stats",
    },
    "tpu.experimental": {"AdagradParameters", "AdamParameters", "StochasticGradientDescentParameters"},
    "tpu": {"experimental"},
}


def _at(path: str) -> Any:
    found: Any = tf
    for part in filter(None, path.split(".")):
        found = getattr(found, part)
    return found


def test_every_name_of_tensorflow_1_is_there() -> None:
    missing = {}
    for path, names in ORIGINAL["names"].items():
        if path.split(".")[0] in {"estimator", "lite"}:  # the first has a table of its own, the second is not ours
            continue
        here = _at(path)
        lost = {name for name in names if not hasattr(here, name)} - DROPPED.get(path, set())
        if lost:
            missing[path] = lost
    assert missing == {}


def test_what_tensorflow_took_away_is_ours() -> None:
    assert tf.layers is lightwell.layers
    assert tf.nn.rnn_cell is lightwell.rnn_cell
    assert tf.estimator.__name__ == "lightwell.compat.v1.estimator"
    assert tf.estimator.inputs.__name__ == "lightwell.compat.v1.estimator.inputs"


def test_the_rest_is_tensorflows_own() -> None:
    v1 = tensorflow.compat.v1
    assert tf.train.AdamOptimizer is v1.train.AdamOptimizer
    assert tf.nn.dynamic_rnn is v1.nn.dynamic_rnn
    assert tf.losses.mean_squared_error is v1.losses.mean_squared_error
    assert tf.summary.scalar is v1.summary.scalar
    assert tf.data.Dataset is v1.data.Dataset
    assert hasattr(tf.data.Dataset, "make_one_shot_iterator")
    assert tf.keras.layers.Dense is tensorflow.keras.layers.Dense
    assert issubclass(tf.keras.layers.LSTM, tensorflow.keras.layers.LSTM)  # with the gates of 1.15
    assert tf.__version__ == tensorflow.__version__


def test_compat_leads_back_here() -> None:
    assert tf.compat.v1 is tf
    assert tf.compat.v2 is tensorflow
    assert tf.compat.as_text(b"x") == "x"
    assert {"v1", "v2", "as_bytes"} <= set(dir(tf.compat))


def test_names_that_came_later_are_found_too() -> None:
    assert tf.optimizers is tensorflow.optimizers


def test_the_namespace_can_be_listed_and_starred() -> None:
    assert {"layers", "nn", "contrib", "placeholder", "logging", "app", "flags", "gfile"} <= set(dir(tf))
    assert {"rnn_cell", "relu"} <= set(dir(tf.nn))
    space: dict[str, Any] = {}
    exec("from lightwell.tf1 import *", space)
    assert space["placeholder"] is tf.placeholder
    assert space["layers"] is tf.layers


def test_submodules_can_be_imported_from_it() -> None:
    space: dict[str, Any] = {}
    exec("from lightwell.tf1 import layers, train\nfrom lightwell.tf1.nn import rnn_cell, relu", space)
    assert space["layers"] is tf.layers
    assert space["train"] is tf.train
    assert space["rnn_cell"] is tf.nn.rnn_cell


def test_a_wrong_name_gets_the_nearest_ones() -> None:
    with pytest.raises(
        AttributeError, match=r"module 'tensorflow' has no attribute 'plcaeholder' .* Nearest names: placeh"
    ):
        _ = tf.plcaeholder
    with pytest.raises(ImportError, match="Nearest names: placeholder"):
        exec("from lightwell.tf1 import placeholdr", {})
    with pytest.raises(AttributeError, match="__wrapped__"):
        _ = tf.__wrapped__
    with pytest.raises(AttributeError, match="__wrapped__"):
        _ = tf.nn.__wrapped__
    with pytest.raises(AttributeError, match="__wrapped__"):
        _ = tf.compat.__wrapped__


def test_what_went_with_tensorflow_1_says_so() -> None:
    with pytest.raises(
        AttributeError, match=r"pywrap_tensorflow went with TensorFlow 1\. Use tf\.train\.NewCheckpoint"
    ):
        _ = tf.pywrap_tensorflow


def test_importing_it_loads_no_tensorflow_and_changes_nothing() -> None:
    code = "import sys; from lightwell import tf1; sys.exit('tensorflow' in sys.modules)"
    source = str(Path(__file__).parents[3] / "src")
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": source}, check=False).returncode == 0
    assert tensorflow.executing_eagerly()
