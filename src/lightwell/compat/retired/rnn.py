"""Cells of `tf.contrib.rnn`."""

from __future__ import annotations

from collections.abc import Mapping

from lightwell.compat.retired.sentences import ADDONS

_RNN_CELLS = (
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
)

CELLS: Mapping[str, str] = {name: f"lightwell.rnn_cell:{name}" for name in _RNN_CELLS} | {
    "static_bidirectional_rnn": "tensorflow:compat.v1.nn.static_bidirectional_rnn",
    "static_rnn": "tensorflow:compat.v1.nn.static_rnn",
    "LayerNormBasicLSTMCell": "!Write it over rnn_cell.RNNCell, with tf.keras.layers.LayerNormalization.",
    "": ADDONS,
}
