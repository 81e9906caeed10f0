"""Each call of a Keras layer on real tensors is in the book of layers, under its path."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tests.model.interop.builds import batches, built, classifier, estimator, keras, v1

import lightwell as lw
from lightwell.model.optimizers import minimize

L = keras.layers
IMAGES = np.random.RandomState(0).rand(8, 6, 6, 1).astype(np.float32)
SERIES = np.random.RandomState(1).rand(8, 5, 3).astype(np.float32)


def described(build: Any) -> list[tuple[str, int, str]]:
    return [(call.name, call.call, call.kind) for call in build.book]


def test_a_call_is_written_down_with_what_went_in_and_came_out() -> None:
    build = built(lambda x: L.Dense(3)(x))
    (call,) = build.book
    assert (call.name, call.kind) == ("dense", "Dense")
    assert [variable.op.name for variable in call.variables] == ["dense/kernel", "dense/bias"]
    assert all(isinstance(variable, tf.Variable) for variable in call.variables)
    assert call.outputs is build.outputs
    assert call.inputs.shape == (64, 6)
    assert isinstance(call.layer, L.Dense)


def test_nested_models_are_flattened_and_recorded_themselves() -> None:
    def network(x: Any) -> Any:
        block = keras.Sequential([L.Dense(4), L.Activation("relu")], name="block_1")
        return keras.Sequential([block, L.Dense(2)], name="encoder")(x)

    assert described(built(network)) == [
        ("encoder/block_1/dense", 0, "Dense"),
        ("encoder/block_1/activation", 0, "Activation"),
        ("encoder/block_1", 0, "Sequential"),
        ("encoder/dense_1", 0, "Dense"),
        ("encoder", 0, "Sequential"),
    ]


def test_a_layer_called_twice_is_there_twice_under_one_name() -> None:
    def network(x: Any) -> Any:
        layer = L.Dense(6)
        return layer(layer(x))

    assert described(built(network)) == [("dense", 0, "Dense"), ("dense", 1, "Dense")]


def test_describing_a_functional_model_is_no_call() -> None:
    def network(x: Any) -> Any:
        inputs = keras.Input((6,))
        hidden = L.Dense(4)(inputs)
        return keras.Model(inputs, L.Dense(2)(hidden), name="encoder")(x)

    assert built(network).layers == ["encoder/dense", "encoder/dense_1", "encoder"]


def test_several_inputs_and_outputs_are_kept_as_structures() -> None:
    def network(x: Any) -> Any:
        both = L.Concatenate()([x, x])
        return both, L.LSTM(2, return_sequences=True, return_state=True)(x)

    concatenated, lstm = list(built(network, SERIES).book)
    assert [tensor.shape for tensor in concatenated.inputs] == [(8, 5, 3), (8, 5, 3)]
    assert [tensor.shape for tensor in lstm.outputs] == [(8, 5, 2), (8, 2), (8, 2)]
    assert lstm.name == "lstm"
    assert [variable.op.name for variable in lstm.variables] == [
        f"lstm/lstm_cell/{name}" for name in ("kernel", "recurrent_kernel", "bias")
    ]


def test_what_runs_in_a_loop_cannot_be_fetched_and_is_not_recorded() -> None:
    def network(x: Any) -> Any:
        layer = L.Dense(2)
        return tf.map_fn(lambda row: layer(row[tf.newaxis])[0], x, fn_output_signature=tf.float32)

    build = built(network)
    assert build.layers == []
    assert build.variables == ["dense/kernel", "dense/bias"]
    assert build.runs()[0].shape == (64, 2)


def extract_layer_output(layer: Any, inputs: Any, name: str) -> tuple[Any, Any]:
    """The helper that people write: a layer's output, and the same tensor under a name."""
    output = layer(inputs)
    return output, tf.identity(output, name=name)


def scene(features: Any, labels: Any, mode: str) -> lw.EstimatorSpec:
    """Specific layers reached through the spec: a convolution's activations, a dense layer's, an LSTM's sequence."""
    conv = tf.keras.layers.Conv2D(4, (3, 3), activation="relu")(features["image"])
    activations = tf.identity(conv, name="conv_layer_output")
    _, sequence = extract_layer_output(
        tf.keras.layers.LSTM(128, return_sequences=True), features["series"], "lstm_output"
    )
    dense = tf.keras.layers.Dense(5, activation="relu")(tf.keras.layers.Flatten()(conv))
    output = tf.keras.layers.Dense(2)(tf.concat([dense, sequence[:, -1]], axis=1))
    predictions = {"activations": activations, "dense": dense, "sequence": sequence, "output": output}
    if mode == lw.ModeKeys.PREDICT:
        return lw.EstimatorSpec(mode, predictions=predictions)
    loss = v1.losses.sparse_softmax_cross_entropy(labels, output)
    return lw.EstimatorSpec(mode, predictions, loss, minimize(keras.optimizers.Adam(0.01), loss))


def rows() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"image": IMAGES, "series": SERIES}, np.arange(8) % 2)).batch(4)


def test_specific_layers_come_out_of_predict(tmp_path: Path) -> None:
    est = estimator(tmp_path, scene)
    est.train(lambda: rows().repeat(), steps=3)
    predicted = list(est.predict(rows, yield_single_examples=False))
    assert {key: value.shape for key, value in predicted[0].items()} == {
        "activations": (4, 4, 4, 4),
        "dense": (4, 5),
        "sequence": (4, 5, 128),
        "output": (4, 2),
    }
    assert (predicted[0]["activations"] >= 0).all()
    names = sorted(est.get_variable_names())
    assert "conv2d/kernel" in names
    assert "lstm/lstm_cell/recurrent_kernel" in names


def test_the_recorded_layers_are_those_of_the_scene() -> None:
    def network(x: Any) -> Any:
        features = {"image": tf.constant(IMAGES), "series": tf.constant(SERIES)}
        return scene(features, None, lw.ModeKeys.PREDICT).predictions

    build = built(network, mode=lw.ModeKeys.PREDICT)
    assert build.layers == ["conv2d", "lstm", "flatten", "dense", "dense_1"]
    recorded = {call.name: call.outputs for call in build.book}
    values, fetched = build.runs(fetch=(build.outputs, recorded))[0]
    np.testing.assert_array_equal(values["activations"], fetched["conv2d"])
    np.testing.assert_array_equal(values["sequence"], fetched["lstm"])


def test_what_cannot_be_fetched_is_hidden_with_the_reason() -> None:
    def network(x: Any) -> Any:
        layer = L.Dense(2, name="inner")
        rows = tf.map_fn(lambda row: layer(row), x)
        return rows, L.LSTM(2, use_cudnn=False)(x)  # cuDNN calls no cell

    build = built(network, SERIES)
    assert build.layers == ["lstm"]
    assert dict(build.book.hidden) == {
        "inner": "is built inside tf.while_loop (tf.map_fn and tf.scan are such loops), whose values exist only while "
        "it runs; return the value from there and read what comes out",
        "lstm/lstm_cell": "is called step by step inside the recurrent layer 'lstm'; a path reads the whole sequence "
        "that comes out",
    }


def test_layers_that_another_thread_builds_are_recorded(tmp_path: Path) -> None:
    class Both(L.Layer):
        """Two threads take turns while one layer is being called."""

        def call(self, inputs: Any) -> Any:
            graph, given = v1.get_default_graph(), []

            def build() -> None:
                with graph.as_default():
                    given.append(keras.Sequential([L.Dense(3), L.Dense(2)], name="tower")(inputs))

            thread = threading.Thread(target=build)
            thread.start()
            thread.join()
            return given[0]

    est = estimator(tmp_path, classifier(lambda x: Both(name="both")(x)))
    est.train(batches(), steps=2)
    described = {layer.name: layer.parameters for layer in est.describe(batches()).layers}
    assert described == {"tower/dense": 21, "tower/dense_1": 8, "tower": 29, "both": 0}
    row = next(iter(est.predict(batches(), taps=["layers/tower"])))
    np.testing.assert_array_equal(row["layers/tower"], row["logits"])


def test_two_models_built_at_the_same_time_keep_their_layers_apart(tmp_path: Path) -> None:
    meet = threading.Barrier(2)

    def network(name: str) -> Any:
        def layers_of(x: Any) -> Any:
            meet.wait(120)
            hidden = L.Dense(3, name=f"{name}_first")(x)
            meet.wait(120)
            return L.Dense(2, name=f"{name}_second")(hidden)

        return layers_of

    described: dict[str, list[str]] = {}

    def describe(name: str) -> None:
        made = estimator(tmp_path / name, classifier(network(name))).describe(batches(), mode="infer")
        described[name] = [layer.name for layer in made.layers]

    threads = [threading.Thread(target=describe, args=[name]) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert described == {name: [f"{name}_first", f"{name}_second"] for name in ("one", "other")}


def test_sparse_outputs_are_recorded_and_read(tmp_path: Path) -> None:
    class Positive(L.Layer):
        def call(self, inputs: Any) -> Any:
            return tf.sparse.from_dense(tf.nn.relu(inputs))

    def network(x: Any) -> Any:
        return L.Dense(2)(tf.ensure_shape(tf.sparse.to_dense(Positive(name="positive")(x)), [None, 6]))

    est = estimator(tmp_path, classifier(network))
    est.train(batches(), steps=1)
    row = next(iter(est.predict(batches(), taps=["layers/positive", "features/x"])))
    np.testing.assert_array_equal(row["layers/positive"].values, row["features/x"][row["features/x"] > 0])
