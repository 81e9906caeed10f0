"""Cases of `tf.contrib.rnn`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tests.compat.contrib.same import inputs

v1 = tf.compat.v1
BATCH, TIME, DEPTH = 3, 4, 5
LENGTHS = [4, 2, 1]
IN_SEQUENCES = ("lstm_block_options", "layer_norm", "attention")

CELLS = {
    "lstm_block": lambda rnn: rnn.LSTMBlockCell(4),
    "lstm_block_options": lambda rnn: rnn.LSTMBlockCell(4, forget_bias=0.5, cell_clip=0.2, use_peephole=True),
    "gru_block": lambda rnn: rnn.GRUBlockCell(4),
    "gru_block_2": lambda rnn: rnn.GRUBlockCellV2(4),
    "layer_norm": lambda rnn: rnn.LayerNormBasicLSTMCell(4),
    "layer_norm_options": lambda rnn: rnn.LayerNormBasicLSTMCell(
        4, forget_bias=0.5, activation=tf.nn.relu, norm_gain=0.5, norm_shift=0.1
    ),
    "layer_norm_off": lambda rnn: rnn.LayerNormBasicLSTMCell(4, layer_norm=False),
    "coupled": lambda rnn: rnn.CoupledInputForgetGateLSTMCell(4),
    "coupled_options": lambda rnn: rnn.CoupledInputForgetGateLSTMCell(
        4, use_peepholes=True, num_proj=3, proj_clip=0.3, state_is_tuple=False, num_unit_shards=2, num_proj_shards=1
    ),
    "coupled_norm": lambda rnn: rnn.CoupledInputForgetGateLSTMCell(4, layer_norm=True),
    "attention": lambda rnn: rnn.AttentionCellWrapper(rnn.GRUCell(4), 3),
    "attention_options": lambda rnn: rnn.AttentionCellWrapper(
        rnn.BasicLSTMCell(4, state_is_tuple=False), 2, attn_size=3, attn_vec_size=5, state_is_tuple=False
    ),
    "ugrnn": lambda rnn: rnn.UGRNNCell(4),
    "intersection": lambda rnn: rnn.IntersectionRNNCell(DEPTH),
    "intersection_projected": lambda rnn: rnn.IntersectionRNNCell(4, num_in_proj=4),
    "nas": lambda rnn: rnn.NASCell(4),
    "nas_options": lambda rnn: rnn.NASCell(4, num_proj=3, use_bias=True),
    "indrnn": lambda rnn: rnn.IndRNNCell(4),
    "indy_gru": lambda rnn: rnn.IndyGRUCell(4),
    "indy_lstm": lambda rnn: rnn.IndyLSTMCell(4),
    "sru": lambda rnn: rnn.SRUCell(4),
    "highway": lambda rnn: rnn.HighwayWrapper(rnn.GRUCell(DEPTH)),
    "highway_apart": lambda rnn: rnn.HighwayWrapper(rnn.GRUCell(DEPTH), couple_carry_transform_gates=False),
    "input_projection": lambda rnn: rnn.InputProjectionWrapper(rnn.GRUCell(4), 3),
    "input_projection_relu": lambda rnn: rnn.InputProjectionWrapper(rnn.GRUCell(4), 3, activation=tf.nn.relu),
    "output_projection": lambda rnn: rnn.OutputProjectionWrapper(rnn.GRUCell(4), 2),
    "output_projection_tanh": lambda rnn: rnn.OutputProjectionWrapper(rnn.GRUCell(4), 2, activation=tf.tanh),
    "stacked": lambda rnn: rnn.MultiRNNCell([rnn.LSTMBlockCell(3), rnn.LayerNormBasicLSTMCell(4)]),
}


def _values(output: Any, state: Any, scope: str = "") -> Any:
    loss = tf.reduce_sum(tf.square(output))
    variables = v1.trainable_variables(scope and f"{scope}/")
    pairs = zip(variables, tf.gradients(loss, variables))  # noqa: B905
    gradients = {one.op.name: tf.reduce_sum(tf.abs(gradient)) for one, gradient in pairs if gradient is not None}
    return {"output": output, "state": tf.nest.flatten(state), "gradients": gradients}


def _steps(contrib: Any) -> Any:
    values = {}
    for name, make in CELLS.items():
        with v1.variable_scope(name):
            cell = make(contrib.rnn)
            zeros = cell.zero_state(BATCH, tf.float32)
            flat = [tf.constant(inputs(*one.shape.as_list(), seed=7)) for one in tf.nest.flatten(zeros)]
            state = tf.nest.pack_sequence_as(zeros, flat)
            output, new_state = cell(tf.constant(inputs(BATCH, DEPTH)), state)
        values[name] = _values(output, new_state, name)
    return {"values": values}


def _sequences(contrib: Any) -> Any:
    values = {}
    for name in IN_SEQUENCES:
        with v1.variable_scope(name):
            cell = CELLS[name](contrib.rnn)
            output, state = v1.nn.dynamic_rnn(
                cell, tf.constant(inputs(BATCH, TIME, DEPTH)), sequence_length=LENGTHS, dtype=tf.float32
            )
        values[name] = _values(output, state, name)
    return {"values": values}


def _whole(values: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """All values of a case in one run."""
    return lambda contrib: {"values": values(contrib)}


def _fused_with_state(contrib: Any) -> Any:
    first = (tf.constant(inputs(BATCH, 4, seed=3)), tf.constant(inputs(BATCH, 4, seed=4)))
    cell = contrib.rnn.LSTMBlockFusedCell(4, name="fused")
    output, state = cell(tf.constant(inputs(TIME, BATCH, DEPTH)), initial_state=first)
    again, _ = cell(tf.constant(inputs(TIME, BATCH, DEPTH, seed=9)), initial_state=state)
    return {**_values(output, state), "again": again}


def _bidirectional_fused(contrib: Any) -> Any:
    rnn = contrib.rnn
    x = tf.constant(inputs(TIME, BATCH, DEPTH))
    forward, _ = rnn.LSTMBlockFusedCell(4)(x, dtype=tf.float32, sequence_length=LENGTHS)
    backward, state = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(4))(x, dtype=tf.float32, sequence_length=LENGTHS)
    return _values(tf.concat([forward, backward], 2), state)


def _stacked_bidirectional(contrib: Any) -> Any:
    rnn = contrib.rnn
    x = tf.constant(inputs(BATCH, TIME, DEPTH))
    output, forward, backward = rnn.stack_bidirectional_dynamic_rnn(
        [rnn.GRUCell(4), rnn.LSTMBlockCell(3)],
        [rnn.GRUCell(4), rnn.LSTMBlockCell(3)],
        x,
        dtype=tf.float32,
        sequence_length=LENGTHS,
    )
    return _values(output, (forward, backward))


def _static_stacked(contrib: Any) -> Any:
    rnn = contrib.rnn
    x = tf.unstack(tf.constant(inputs(TIME, BATCH, DEPTH)))
    outputs, forward, backward = rnn.stack_bidirectional_rnn(
        [rnn.GRUCell(4), rnn.GRUCell(3)], [rnn.GRUCell(4), rnn.GRUCell(3)], x, dtype=tf.float32, scope="both"
    )
    return _values(tf.stack(outputs), (forward, backward))


def _static(contrib: Any) -> Any:
    rnn = contrib.rnn
    x = tf.unstack(tf.constant(inputs(TIME, BATCH, DEPTH)))
    outputs, state = rnn.static_rnn(rnn.BasicLSTMCell(4), x, dtype=tf.float32)
    both, _, _ = rnn.static_bidirectional_rnn(rnn.GRUCell(2), rnn.GRUCell(2), x, dtype=tf.float32)
    return _values(tf.concat([tf.stack(outputs), tf.stack(both)], 2), state)


def _embedding(contrib: Any) -> Any:
    rnn = contrib.rnn
    cell = rnn.EmbeddingWrapper(rnn.GRUCell(4), embedding_classes=7, embedding_size=3)
    output, state = cell(tf.constant([[1], [6], [0]]), cell.zero_state(3, tf.float32))
    return _values(output, state)


def _phased(contrib: Any) -> Any:
    cell = contrib.rnn.PhasedLSTMCell(4, use_peepholes=True)
    times = tf.constant([[1.0], [2.5], [7.0]])
    state = tf.nest.map_structure(lambda zeros: zeros + 0.3, cell.zero_state(BATCH, tf.float32))
    output, new_state = cell((times, tf.constant(inputs(BATCH, DEPTH))), state)
    return _values(output, new_state)


def _conv(contrib: Any) -> Any:
    cell = contrib.rnn.ConvLSTMCell(2, input_shape=[4, 4, 2], output_channels=3, kernel_shape=[3, 3])
    line = contrib.rnn.Conv1DLSTMCell(input_shape=[6, 2], output_channels=2, kernel_shape=[3], skip_connection=True)
    output, state = cell(tf.constant(inputs(2, 4, 4, 2)), cell.zero_state(2, tf.float32))
    other, _ = line(tf.constant(inputs(2, 6, 2)), line.zero_state(2, tf.float32))
    return {**_values(output, state), "line": other}


def _all_fused(contrib: Any) -> Any:
    peepholes = {"forget_bias": 0.3, "cell_clip": 0.2, "use_peephole": True}
    kinds = {
        "fused_lengths": (lambda rnn: rnn.LSTMBlockFusedCell(4), {"sequence_length": LENGTHS}),
        "fused_options": (lambda rnn: rnn.LSTMBlockFusedCell(4, **peepholes), {}),
        "fused_adaptor": (lambda rnn: rnn.FusedRNNCellAdaptor(rnn.GRUCell(4)), {}),
        "fused_reversed": (lambda rnn: rnn.TimeReversedFusedRNN(rnn.FusedRNNCellAdaptor(rnn.GRUCell(4), True)), {}),
    }
    values = {}
    for name, (make, options) in kinds.items():
        with v1.variable_scope(name):
            output, state = make(contrib.rnn)(tf.constant(inputs(TIME, BATCH, DEPTH)), dtype=tf.float32, **options)
        values[name] = _values(output, state, name)
    return values


CASES = {
    "steps": _steps,
    "sequences": _sequences,
    "all_fused": _whole(_all_fused),
    "fused_state": _whole(_fused_with_state),
    "bidirectional_fused": _whole(_bidirectional_fused),
    "stacked_bidirectional": _whole(_stacked_bidirectional),
    "static": _whole(_static),
    "static_stacked_bidirectional": _whole(_static_stacked),
    "embedding": _whole(_embedding),
    "phased": _whole(_phased),
    "conv": _whole(_conv),
}


def facts(contrib: Any) -> Any:
    """Sizes of the cells."""
    with tf.Graph().as_default():
        made = {name: make(contrib.rnn) for name, make in CELLS.items()}
        return {name: [repr(cell.state_size), repr(cell.output_size)] for name, cell in made.items()}
