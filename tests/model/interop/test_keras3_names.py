"""Names that Keras 3 alone would not give: functional models, layers from outside, names taken twice."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tests.model.interop.builds import built, keras

L = keras.layers


def functional(x: Any) -> Any:
    inputs = keras.Input((6,))
    hidden = L.Dense(4)(inputs)
    block = keras.Model(inputs, L.BatchNormalization()(hidden), name="block_1")
    outer = keras.Input((6,))
    return keras.Model(outer, L.Dense(2)(block(outer)), name="encoder")(x)


def test_functional_models_are_named_like_all_nested_models() -> None:
    build = built(functional)
    assert build.variables == [
        *["encoder/block_1/dense/kernel", "encoder/block_1/dense/bias"],
        *[
            f"encoder/block_1/batch_normalization/{name}"
            for name in ("gamma", "beta", "moving_mean", "moving_variance")
        ],
        *["encoder/dense_1/kernel", "encoder/dense_1/bias"],
    ]


def test_one_name_for_two_layers_is_numbered() -> None:
    def network(x: Any) -> Any:
        return L.Dense(2, name="head")(L.Dense(6, name="head")(x))

    build = built(network)
    assert build.variables == ["head/kernel", "head/bias", "head_1/kernel", "head_1/bias"]
    assert build.layers == ["head", "head_1"]


def test_a_layer_from_outside_is_numbered_by_the_graph_and_not_by_the_program() -> None:
    for _ in range(5):
        layers = [L.Dense(3), L.Dense(2)]
    build = built(lambda x: layers[1](layers[0](x)))
    assert build.variables == ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]
    assert layers[0].name != "dense"


def test_recurrent_and_attention_layers() -> None:
    def network(x: Any) -> Any:
        x = x[:, :, tf.newaxis]
        x = L.Bidirectional(L.LSTM(2, return_sequences=True))(x)
        x = L.MultiHeadAttention(1, 2)(x, x)
        return L.RNN([L.LSTMCell(2), L.GRUCell(2)])(x)

    build = built(network)
    owners = list(dict.fromkeys(name.rpartition("/")[0] for name in build.variables))
    assert owners == [
        *["bidirectional/forward_lstm/lstm_cell", "bidirectional/backward_lstm/lstm_cell"],
        *[f"multi_head_attention/{name}" for name in ("query", "key", "value", "attention_output")],
        *["rnn/stacked_rnn_cells/lstm_cell", "rnn/stacked_rnn_cells/gru_cell"],
    ]
    assert [name for name in build.layers if "/" not in name] == ["bidirectional", "multi_head_attention", "rnn"]


def test_a_user_variable_of_keras_has_its_own_name() -> None:
    def network(x: Any) -> Any:
        scale = keras.Variable(2.0, name="scale")
        return x * scale

    build = built(network)
    assert build.variables == ["scale"]
    assert build.runs()[0].shape == (64, 6)
