"""Every kind of Keras 3 layer in a graph: computes what it computes eagerly, same names in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import built, keras, v1

import lightwell as lw

L = keras.layers
R = np.random.RandomState(0)
SERIES = R.randn(4, 6, 5).astype(np.float32)
IMAGES = R.rand(2, 8, 8, 3).astype(np.float32)
VECTORS = R.randn(4, 5).astype(np.float32)
IDS = np.array([[1, 2, 0], [3, 0, 0]], np.int32)
WORDS = np.array([["a", "b"], ["c", "zz"]])

LAYERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "attention": (lambda: L.Attention(), SERIES),
    "batch norm": (lambda: L.BatchNormalization(), VECTORS),
    "bidirectional": (lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)), SERIES),
    "category encoding": (lambda: L.CategoryEncoding(4), IDS),
    "conv 1d": (lambda: L.Conv1D(2, 3, padding="causal"), SERIES),
    "conv 2d": (lambda: L.Conv2D(4, 3, activation="relu"), IMAGES),
    "conv lstm": (lambda: L.ConvLSTM1D(2, 3), IMAGES),
    "conv transpose": (lambda: L.Conv2DTranspose(4, 3), IMAGES),
    "depthwise": (lambda: L.DepthwiseConv2D(3), IMAGES),
    "discretization": (lambda: L.Discretization([0.0, 0.5]), VECTORS),
    "einsum dense": (lambda: L.EinsumDense("ab,bc->ac", 3), VECTORS),
    "embedding with mask": (lambda: keras.Sequential([L.Embedding(5, 4, mask_zero=True), L.LSTM(3)]), IDS),
    "group norm": (lambda: L.GroupNormalization(1), IMAGES),
    "gru": (lambda: L.GRU(3), SERIES),
    "hashing": (lambda: L.Hashing(3), WORDS),
    "lambda": (lambda: L.Lambda(tf.nn.relu), VECTORS),
    "layer norm": (lambda: L.LayerNormalization(), SERIES),
    "lookup": (lambda: L.StringLookup(vocabulary=["a", "b", "c"]), WORDS),
    "lstm": (lambda: L.LSTM(3, return_sequences=True), SERIES),
    "masking": (lambda: keras.Sequential([L.Masking(), L.LSTM(2)]), SERIES),
    "max pooling": (lambda: L.MaxPooling2D(), IMAGES),
    "multi-head attention": (lambda: L.MultiHeadAttention(2, 3), SERIES),
    "prelu": (lambda: L.PReLU(), VECTORS),
    "resizing": (lambda: L.Resizing(4, 4), IMAGES),
    "separable": (lambda: L.SeparableConv2D(4, 3), IMAGES),
    "simple rnn": (lambda: L.SimpleRNN(3), SERIES),
    "spectral norm": (lambda: L.SpectralNormalization(L.Dense(3)), VECTORS),
    "text": (lambda: L.TextVectorization(vocabulary=["a", "b"]), np.array(["a b", "x"])),
    "time distributed": (lambda: L.TimeDistributed(L.Dense(3)), SERIES),
    "unit norm": (lambda: L.UnitNormalization(), VECTORS),
    "unrolled lstm": (lambda: L.LSTM(3, unroll=True), SERIES),
}


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "attention": lambda layer, x: layer([x, x]),
    "multi-head attention": lambda layer, x: layer(x, x),
}


@pytest.mark.parametrize("kind", LAYERS)
def test_it_computes_what_it_computes_eagerly(kind: str) -> None:
    make, inputs = LAYERS[kind]
    call = CALLS.get(kind, lambda layer, x: layer(x))
    outside = make()
    expected = np.asarray(call(outside, tf.constant(inputs)))
    weights = outside.get_weights()

    def network(x: Any) -> Any:
        layer = make()
        outputs = call(layer, x)
        layer.set_weights(weights)
        return outputs

    predicts = built(network, inputs, mode=lw.ModeKeys.PREDICT)
    np.testing.assert_allclose(predicts.runs()[0], expected, rtol=1e-4, atol=1e-5)
    trains = built(network, inputs)
    trains.runs()
    assert trains.variables == predicts.variables
    assert trains.layers == predicts.layers


@pytest.mark.parametrize("when", ["before it is built", "after it is built", "through its model"])
def test_frozen_weights_are_neither_trained_nor_regularised(when: str) -> None:
    def network(x: Any) -> Any:
        layer = L.Dense(3, kernel_regularizer="l2")
        model = keras.Sequential([keras.Input((6,)), layer] if when == "after it is built" else [layer])
        (model if when == "through its model" else layer).trainable = False
        model(x)
        return model.losses

    build = built(network)
    assert build.outputs == []
    assert build.graph.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES) == []
    assert build.graph.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES) == []
