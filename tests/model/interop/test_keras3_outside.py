"""Layers and models made outside of model_fn: their values are where training starts, and they keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests.model.interop.builds import X, batches, built, classifier, estimator, keras

import lightwell as lw

L = keras.layers


def test_a_built_model_starts_from_its_weights_and_keeps_them(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((6,)), L.Dense(4, activation="relu"), L.BatchNormalization(), L.Dense(2)])
    weights = model.get_weights()
    expected = model.predict(X[:4], verbose=0)
    est = estimator(tmp_path, classifier(lambda x: model(x), lambda: keras.optimizers.SGD(0.0)))
    est.train(batches(16), steps=1)
    np.testing.assert_array_equal(est.get_variable_value("sequential/dense/kernel"), weights[0])
    assert not np.array_equal(est.get_variable_value("sequential/batch_normalization/moving_mean"), weights[4])
    est.evaluate(batches(repeat=1))
    for now, before in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(now, before)
    np.testing.assert_array_equal(model.predict(X[:4], verbose=0), expected)


def test_an_unbuilt_layer_serves_every_build(tmp_path: Path) -> None:
    hidden, out = L.Dense(4, kernel_regularizer="l2"), L.Dense(2)
    est = estimator(tmp_path, classifier(lambda x: out(hidden(x))))
    est.train(batches(), steps=2)
    first = est.evaluate(batches(repeat=1))
    rows = [row["logits"] for row in est.predict(batches(repeat=1))]
    est.train(batches(), steps=2)
    assert est.evaluate(batches(repeat=1))["loss"] < first["loss"]
    assert len(rows) == 64
    assert sorted(est.get_variable_names()) == [
        "dense/bias",
        "dense/kernel",
        "dense_1/bias",
        "dense_1/kernel",
        "global_step",
    ]


def test_large_weights_do_not_enter_the_graph() -> None:
    layer = L.Dense(8192)
    layer(X)
    build = built(lambda x: layer(x))
    assert build.graph.as_graph_def().ByteSize() < 100_000
    np.testing.assert_allclose(build.runs()[0], np.asarray(layer(X)), rtol=1e-5, atol=1e-5)


def test_an_adapted_normalization_layer_may_come_from_outside() -> None:
    layer = L.Normalization()
    layer.adapt(X)
    np.testing.assert_allclose(built(lambda x: layer(x)).runs()[0], np.asarray(layer(X)), rtol=1e-5)


def test_lookup_layers_may_come_from_outside() -> None:
    words, adapted = np.array([["b"], ["z"]]), L.StringLookup(num_oov_indices=2)
    adapted.adapt(np.array(["a", "b", "b"]))
    text = L.TextVectorization(output_sequence_length=3)
    text.adapt(np.array(["a b", "b c"]))
    inverse = L.StringLookup(vocabulary=["a", "b"], invert=True)
    for layer, given in (
        (L.StringLookup(vocabulary=["a", "b"]), words),
        (adapted, words),
        (L.IntegerLookup(vocabulary=[7, 9]), np.array([[9], [1]])),
        (text, np.array(["c b", "z"])),
        (inverse, np.array([[2], [0]])),
    ):
        expected = np.asarray(layer(given)).tolist()
        assert built(lambda x, layer=layer: layer(x), given).runs()[0].tolist() == expected
        assert np.asarray(layer(given)).tolist() == expected


class Remembers(L.Layer):
    """A layer with a table that it writes into."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def call(self, x: Any) -> Any:
        return self.seen.lookup(tf.cast(x, tf.int64))


def test_a_table_that_can_be_written_is_refused_with_the_way_out() -> None:
    layer = Remembers()
    with pytest.raises(
        lw.errors.ModelFnError, match=r"the Remembers layer 'remembers.*', which holds a tensor, a variable or a table"
    ) as told:
        built(lambda x: layer(x))
    assert "Create the layer inside model_fn" in str(told.value)


def test_a_variable_of_another_graph_is_refused() -> None:
    with tf.Graph().as_default():
        layer = L.Dense(2)
        layer(tf.constant(X))
    with pytest.raises(
        lw.errors.ModelFnError, match=r"the Keras variable 'dense.*/kernel', which belongs to another graph"
    ):
        built(lambda x: layer(x))


WEIGHTS = [np.full((6, 2), 0.5, np.float32), np.full(2, 0.25, np.float32)]


@pytest.mark.parametrize("when", ["before the call", "after the call"])
def test_weights_set_in_model_fn_are_where_training_starts(tmp_path: Path, when: str) -> None:
    def network(x: Any) -> Any:
        model = keras.Sequential([L.Dense(2)], name="m")
        if when == "before the call":
            model.build((None, 6))
            model.set_weights(WEIGHTS)
            return model(x)
        out = model(x)
        model.set_weights(WEIGHTS)
        return out

    est = estimator(tmp_path, classifier(network, lambda: keras.optimizers.SGD(0.0)))
    est.train(batches(), steps=1)
    np.testing.assert_array_equal(est.get_variable_value("m/dense/kernel"), WEIGHTS[0])
    resumed = estimator(tmp_path, classifier(network, lambda: keras.optimizers.SGD(1.0)))
    resumed.train(batches(), steps=2)
    assert not np.array_equal(resumed.get_variable_value("m/dense/kernel"), WEIGHTS[0])


def test_weights_may_be_loaded_from_a_file_in_model_fn(tmp_path: Path) -> None:
    saved = keras.Sequential([keras.Input((6,)), L.Dense(2)])
    saved.save_weights(tmp_path / "some.weights.h5")

    def network(x: Any) -> Any:
        model = keras.Sequential([keras.Input((6,)), L.Dense(2)])
        model.load_weights(tmp_path / "some.weights.h5")
        return model(x)

    np.testing.assert_allclose(built(network).runs()[0], np.asarray(saved(X)), rtol=1e-5)
