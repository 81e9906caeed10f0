"""Models of Keras layers, called in a `model_fn`, become Keras models of the same layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from tests.estimator.export.keras_model.converting import (
    IMAGES,
    NUMBERS,
    ROWS,
    SEQUENCES,
    WORDS,
    converted,
    difference,
    kinds,
    once,
    trained,
)

import lightwell as lw


def test_images(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        conv = layers.Conv2D(4, 3, activation="relu", name="conv")(features["image"])
        normal = layers.BatchNormalization(name="normal")(conv, training=training)
        dropped = layers.Dropout(0.5)(layers.Flatten()(normal), training=training)
        return {"out": layers.Dense(2)(dropped), "conv": conv}

    model, made = converted(net, IMAGES, tmp_path)
    assert list(kinds(model)) == ["image", "conv", "normal", "flatten", "dropout", "dense", "conv_1", "out"]
    np.testing.assert_array_equal(model.get_layer("normal").moving_variance, made.weights["normal/moving_variance"])
    assert model.get_layer("normal").moving_variance.numpy().min() < 1


def test_recurrent_layers(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        both = layers.Bidirectional(layers.SimpleRNN(3, return_sequences=True))(features["steps"])
        sequence, hidden, carry = layers.LSTM(3, return_sequences=True, return_state=True)(both)
        again = layers.GRU(3)(sequence, initial_state=hidden)
        return {"out": layers.Dense(2)(again), "sequence": sequence, "carry": carry}

    model, _ = converted(net, SEQUENCES, tmp_path)
    assert {"Bidirectional", "LSTM", "GRU", "Dense"} <= set(kinds(model).values())


def test_masks_go_their_way(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        words = layers.Embedding(10, 4, mask_zero=True)(features["ids"])
        return {"out": layers.Dense(2)(layers.LSTM(4)(words))}

    made = trained(net, WORDS, tmp_path)
    model = made.to_keras(once(WORDS))
    padded = {"ids": np.where(np.arange(6) < 3, WORDS["ids"], 0)}
    assert difference(model, made, padded) <= 1e-6
    assert np.abs(model(padded)["out"] - model(WORDS)["out"]).max() > 1e-4


def test_attention_with_positions(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        words = layers.Embedding(10, 8)(features["ids"]) + layers.Embedding(6, 8, name="places")(tf.range(6))
        mixed, scores = layers.MultiHeadAttention(2, 4)(words, words, return_attention_scores=True)
        return {"out": tf.reduce_mean(layers.LayerNormalization()(mixed + words), axis=1), "scores": scores}

    model, made = converted(net, WORDS, tmp_path)
    np.testing.assert_array_equal(model.get_layer("places").embeddings, made.weights["places/embeddings"])


def test_models_in_the_model(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        inner = keras.Input((8,))
        twice = layers.Lambda(lambda x: x * 2)(inner)
        part = keras.Model(inner, layers.Dense(3, activation="relu")(twice), name="part")
        body = keras.Sequential([layers.Dense(8), layers.BatchNormalization(), layers.Dropout(0.3)], name="body")
        return {"out": part(body(features["x"], training=training)) + part(features["x"])}

    model, made = converted(net, NUMBERS, tmp_path)
    assert kinds(model) == {"x": "InputLayer", "body": "Sequential", "part": "Functional", "out": "Identity"}
    np.testing.assert_array_equal(model.get_layer("body").layers[0].kernel, made.weights["body/dense_1/kernel"])


def test_a_layer_that_is_called_twice_is_one_layer(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        dense = layers.Dense(8, activation="relu")
        return {"out": dense(dense(features["x"]))}

    model, _ = converted(net, NUMBERS, tmp_path)
    assert model.count_params() == 8 * 8 + 8


def test_a_layer_made_outside_of_model_fn(tmp_path: Path) -> None:
    dense = layers.Dense(3, name="outside")
    dense.build((None, 8))
    before = dense.kernel.numpy()
    model, made = converted(lambda features, training: {"out": dense(features["x"])}, NUMBERS, tmp_path)
    np.testing.assert_array_equal(model.get_layer("outside").kernel, made.weights["outside/kernel"])
    np.testing.assert_array_equal(dense.kernel.numpy(), before)


@keras.saving.register_keras_serializable("tests")
class Gated(layers.Layer):
    """A layer of the user's, with layers inside, on TensorFlow's functions."""

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.gate, self.value = layers.Dense(units, activation="sigmoid"), layers.Dense(units)

    def build(self, input_shape: Any) -> None:
        self.gate.build(input_shape)
        self.value.build(input_shape)

    def call(self, inputs: Any) -> Any:
        return tf.multiply(self.gate(inputs), self.value(inputs))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "units": self.units}


def test_a_layer_of_the_users(tmp_path: Path) -> None:
    model, made = converted(lambda features, training: {"out": Gated(3)(features["x"])}, NUMBERS, tmp_path)
    assert type(model.get_layer("gated")) is Gated
    np.testing.assert_array_equal(model.get_layer("gated").gate.kernel, made.weights["gated/dense/kernel"])


class WithFunction(layers.Layer):
    """One that Keras cannot make again: nothing tells what its function is."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function, self.dense = function, layers.Dense(3, name="inner")

    def call(self, inputs: Any) -> Any:
        return self.function(self.dense(inputs))


def test_a_layer_that_cannot_be_copied_is_looked_through(tmp_path: Path, log: Any) -> None:
    def net(features: Any, training: bool) -> Any:
        return {"out": WithFunction(lambda x: tf.nn.softplus(x) + 1)(features["x"])}

    model, _ = converted(net, NUMBERS, tmp_path)
    assert kinds(model)["with_function_inner"] == "Dense"
    (line, *_) = log.having("layer 'with_function' is converted op by op")
    assert "making it from its get_config() raised NotImplementedError" in line


class Aged(layers.Layer):
    """One that works in the graph of an Estimator alone: it looks for the step counter there."""

    def call(self, inputs: Any) -> Any:
        return inputs / tf.cast(tf.compat.v1.train.get_global_step(), tf.float32)


def test_a_layer_that_cannot_be_called_in_keras_is_looked_through(tmp_path: Path, log: Any) -> None:
    def net(features: Any, training: bool) -> Any:
        dense = layers.Dense(2)(features["x"])
        return {"out": dense if training else Aged()(dense)}

    model, _ = converted(net, NUMBERS, tmp_path)
    assert model.get_layer("global_step").value.numpy() == 3
    assert not model.get_layer("global_step").trainable
    assert log.having("layer 'aged' is converted op by op, as calling the copy raised ")


def test_layers_of_both_kinds_and_several_inputs(tmp_path: Path) -> None:
    def net(features: Any, training: bool) -> Any:
        image = layers.GlobalAveragePooling2D()(lw.layers.conv2d(features["image"], 4, 3, name="old"))
        words = tf.reduce_mean(layers.Embedding(10, 4)(features["text"]["ids"]), axis=1)
        age = tf.expand_dims(tf.cast(features["age"], tf.float32) / 100.0, 1)
        joined = tf.concat([image, words, age], axis=-1)
        return {
            "out": lw.layers.dense(layers.Dense(6, activation="gelu")(joined), 2, name="last"),
            "age": features["age"],
        }

    features = {**IMAGES, "text": WORDS, "age": np.arange(ROWS)}
    model, _ = converted(net, features, tmp_path)
    assert {name: tuple(part.shape) for name, part in model.input["text"].items()} == {"ids": (None, 6)}
    assert kinds(model)["old"] == "Conv2D"
    assert kinds(model)["last"] == "Dense"
