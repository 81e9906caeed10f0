"""A model described: layers of every make, their weights and shapes, as data that survives being written down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tests.inside.paths import models
from tests.inside.paths.models import PREDICT, TRAIN

import lightwell as lw
from lightwell.inside.paths.describe import Description, describe, from_variables
from lightwell.run.engine.program import Program

v1 = tf.compat.v1


def _layers(description: Description) -> dict[str, Any]:
    return {layer.name: layer for layer in description.layers}


def test_our_layers(everything: Callable[[str], Program]) -> None:
    description = describe(everything(TRAIN))
    layers = _layers(description)
    conv = layers["conv2d"]
    assert (conv.kind, conv.path, conv.calls) == ("Conv2D", "layers/conv2d", 1)
    assert [(weight.attribute, weight.name, weight.shape) for weight in conv.weights] == [
        ("kernel", "conv2d/kernel", (5, 5, 1, 2)),
        ("bias", "conv2d/bias", (2,)),
    ]
    assert conv.parameters == 52
    assert conv.outputs[0].shape == (None, 7, 7, 2)
    assert conv.inputs[0].shape == (None, 28, 28, 1)
    assert layers["shared"].calls == 2
    assert [value.path for value in layers["shared"].outputs] == ["layers/shared:0", "layers/shared:1"]
    assert [value.path for value in layers["rnn/lstm_cell"].outputs] == [f"layers/rnn/lstm_cell[{i}]" for i in range(3)]
    assert [value.path for value in layers["rnn/lstm_cell"].inputs] == ["layers/rnn/lstm_cell/input"]
    assert layers["rnn/lstm_cell"].kind == "LSTMCell"
    assert layers["dropout"].parameters == 0
    assert description.parameters == sum(layer.parameters for layer in description.layers)
    assert description.trainable_parameters == description.parameters
    assert "hidden/kernel/Adam" in description.slots
    assert [(value.path, value.dtype) for value in description.features] == [
        ("features/x", "float32"),
        ("features/age", "float32"),
        ("features/city", "string"),
    ]
    assert [value.path for value in description.predictions] == ["predictions/probabilities", "predictions/classes"]
    assert description.labels[0].path == "labels"
    assert description.mode == TRAIN


def test_keras_layers_and_models() -> None:
    def model_fn(features: Mapping[str, Any], labels: Any, mode: str) -> lw.EstimatorSpec:
        stack = keras.Sequential(
            [keras.layers.Dense(4), keras.layers.BatchNormalization(), keras.layers.Dense(3)], name="stack"
        )
        recurrent = keras.layers.LSTM(2)(features["x"][:, :6, tf.newaxis])
        return models.finished(tf.concat([stack(features["x"]), recurrent], 1), labels, mode)

    description = describe(models.program(model_fn, TRAIN))
    layers = _layers(description)
    assert [weight.attribute for weight in layers["stack/dense"].weights] == ["kernel", "bias"]
    norm = layers["stack/batch_normalization"].weights
    assert {weight.attribute: weight.trainable for weight in norm} == {
        "gamma": True,
        "beta": True,
        "moving_mean": False,
        "moving_variance": False,
    }
    # A layer that holds others tells their weights apart by where they are; one with a cell inside need not.
    assert [weight.attribute for weight in layers["stack"].weights][:2] == ["dense/kernel", "dense/bias"]
    assert [weight.attribute for weight in layers["lstm"].weights] == ["kernel", "recurrent_kernel", "bias"]
    assert layers["lstm"].weights[0].name == "lstm/lstm_cell/kernel"
    assert description.parameters - description.trainable_parameters == 8
    assert layers["stack"].parameters == 784 * 4 + 4 + 16 + 15


def test_feature_columns() -> None:
    layers = _layers(describe(models.program(models.columns_net, PREDICT)))
    assert layers["input_layer"].outputs[0].shape == (None, 7)
    assert layers["input_layer/city_embedding"].kind == "EmbeddingColumn"
    assert layers["input_layer/city_embedding"].weights[0].shape == (3, 3)
    assert layers["input_layer/age"].weights == ()


def test_partitioned_variables_are_one() -> None:
    def model_fn(features: Mapping[str, Any], mode: str) -> lw.EstimatorSpec:
        with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(2)):
            return lw.EstimatorSpec(mode, predictions=lw.layers.dense(features["x"], 2, use_bias=False, name="d"))

    description = describe(models.program(model_fn, PREDICT))
    (weight,) = description.layers[0].weights
    assert (weight.name, weight.attribute, weight.shape) == ("p/d/kernel", "kernel", (784, 2))
    assert description.parameters == 784 * 2


def test_sparse_ragged_and_unknown_shapes() -> None:
    def input_fn() -> Any:
        features = {"s": tf.sparse.from_dense([[1], [2]]), "r": tf.ragged.constant([[1.0], []]), "x": np.ones([2])}
        return tf.data.Dataset.from_tensor_slices(features).batch(2)

    def model_fn(features: Mapping[str, Any], mode: str) -> lw.EstimatorSpec:
        any_shape = tf.numpy_function(lambda x: x, [features["x"]], tf.float64)
        return lw.EstimatorSpec(mode, predictions={"any": any_shape})

    description = describe(models.program(model_fn, PREDICT, input_fn))
    assert {value.path: value.form for value in description.features} == {
        "features/s": "sparse",
        "features/r": "ragged",
        "features/x": "dense",
    }
    assert description.predictions[0].shape is None


def test_training_keeps_it_and_describe_asks_for_no_training(trained: lw.Estimator, tmp_path: Path) -> None:
    told = trained.describe(models.once)
    kept = json.loads((Path(trained.model_dir) / "description.json").read_text())
    assert kept == json.loads(json.dumps(told.to_dict()))
    assert kept["layers"][0]["path"] == "layers/conv2d"
    assert str(trained.layers) == str(told)
    fresh = models.estimator(models.everything, tmp_path / "fresh")
    assert fresh.describe(models.once, mode=PREDICT).parameters == trained.describe(models.once).parameters
    assert fresh.latest_checkpoint() is None


def test_a_checkpoint_alone_tells_layers_by_scopes() -> None:
    shapes = {"dense/kernel": [3, 2], "dense/bias": [2], "dense/kernel/Adam": [3, 2], "alone": [], "global_step": []}
    description = from_variables(shapes, dict.fromkeys(shapes, tf.float32))
    (layer,) = description.layers
    assert (layer.name, layer.kind, layer.parameters) == ("dense", "?", 8)
    assert description.parameters == 9
    assert description.slots == ("dense/kernel/Adam",)
