"""Access to layers: of a classifier, a convolutional network, feature columns and Keras layers, both ways."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.programs.cases import WAYS
from tests.programs.conftest import Outcomes

import lightwell as lw

pytestmark = pytest.mark.parametrize("way", WAYS)


def layers_of(model_dir: Path) -> Any:
    """The layers of a model that a program left."""
    return lw.Estimator(lambda features: None, str(model_dir)).layers


def test_a_classifier_with_flags_learns(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("softmax_tensor", way)
    assert printed["steps"] == 60
    assert printed["accuracy"] > 0.9


def test_a_convolutional_network_learns(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("mnist_cnn", way)
    first, last = printed["first"], printed["last"]
    assert (first["global_step"], last["global_step"]) == (1, 10)
    assert last["accuracy"] > 0.9 > first["accuracy"]
    assert last["loss"] < 0.5 < first["loss"]
    assert printed["probabilities"][0] == [8, 10]
    assert math.isclose(printed["probabilities"][1], 8, rel_tol=1e-5)


def test_every_layer_of_it_is_a_layer(outcomes: Outcomes, way: str) -> None:
    layers = layers_of(outcomes.model_dir("mnist_cnn", way))
    assert list(layers) == ["conv2d", "max_pooling2d", "conv2d_1", "max_pooling2d_1", "dense", "dropout", "dense_1"]
    assert layers["conv2d_1"].kernel.shape == (5, 5, 32, 64)
    assert layers["dense"].kernel.shape == (7 * 7 * 64, 1024)


def test_two_input_layers_of_columns(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("columns", way)
    assert printed["metrics"]["accuracy"] > 0.9
    assert [len(row) for row in printed["input"]] == [4, 4]
    assert printed["refused"].startswith("Items of feature_columns must be a _DenseColumn.")
    assert "Lightwell: wrap the column 'education' with tf.feature_column.indicator_column" in printed["refused"]


def test_every_column_is_a_layer(outcomes: Outcomes, way: str) -> None:
    layers = layers_of(outcomes.model_dir("columns", way))
    columns = ["input_layer/age", "input_layer", "input_layer_1/education_indicator", "input_layer_1"]
    assert list(layers) == [*columns, "dense", "dense_1"]


def test_keras_layers_are_trained_and_their_statistics_move(outcomes: Outcomes, way: str) -> None:
    printed = outcomes.printed("keras_conv", way)
    assert printed["accuracy"] > 0.9
    assert printed["statistics_moved"]
    assert printed["shapes"] == [[6, 6, 32]]
    assert (printed["rows"], printed["brighter"], printed["moving_mean"]) == (16, True, [[32]])


def test_outputs_of_dense_and_lstm_through_a_helper(outcomes: Outcomes, way: str) -> None:
    assert outcomes.printed("keras_lstm", way) == {
        "shapes": {"lstm": [5, 128], "dense": [16], "output": [1]},
        "rows": 16,
        "learned": True,
        "finite": True,
    }


def test_activations_over_a_pipeline_without_touching_model_fn(outcomes: Outcomes, way: str) -> None:
    assert outcomes.printed("activations_over_data", way) == {
        "keys": ["layers/conv2d", "layers/lstm"],
        "shapes": [[6, 6, 8], [6, 12]],
        "rows": 10,
        "some_zeros": True,
        "predictions_stop": True,  # the assertion behind the predictions did not run while only taps were asked for
    }
