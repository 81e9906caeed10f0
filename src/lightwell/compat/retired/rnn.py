"""Cells of `tf.contrib.rnn`."""

from __future__ import annotations

from collections.abc import Mapping

_HERE = "lightwell.compat.contrib.rnn"
_OF_TENSORFLOW = "static_bidirectional_rnn static_rnn static_state_saving_rnn"
_PLAIN_CELLS = """
    BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
    ResidualWrapper
"""
_PLACES = {
    "attention_wrapper": "AttentionCellWrapper",
    "block_cells": "GRUBlockCell GRUBlockCellV2 LSTMBlockCell",
    "conv_lstm": "Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell",
    "coupled_lstm": "CoupledInputForgetGateLSTMCell",
    "fused": "FusedRNNCell FusedRNNCellAdaptor LSTMBlockFusedCell LSTMBlockWrapper TimeReversedFusedRNN",
    "gated_cells": "IntersectionRNNCell UGRNNCell",
    "highway": "HighwayWrapper",
    "independent": "IndRNNCell IndyGRUCell IndyLSTMCell SRUCell",
    "layer_norm_lstm": "LayerNormBasicLSTMCell",
    "nas": "NASCell",
    "phased": "PhasedLSTMCell",
    "projections": "EmbeddingWrapper InputProjectionWrapper OutputProjectionWrapper",
    "stacked": """
        best_effort_input_batch_size stack_bidirectional_dynamic_rnn stack_bidirectional_rnn transpose_batch_time
    """,
}
CELLS: Mapping[str, str] = (
    {name: f"lightwell.rnn_cell:{name}" for name in _PLAIN_CELLS.split()}
    | {name: f"tensorflow:compat.v1.nn.{name}" for name in _OF_TENSORFLOW.split()}
    | {name: f"{_HERE}.{file}:{name}" for file, names in _PLACES.items() for name in names.split()}
    | {
        "": "!Write the cell over tf.compat.v1.nn.rnn_cell.RNNCell: state_size, output_size, call(inputs, state).",
        "CompiledWrapper": "!Use the cell itself, with RunConfig(session_config=...) for XLA.",
        "LayerRNNCell": "lightwell.model.rnn_cell.base:LayerRNNCell",
    }
)
