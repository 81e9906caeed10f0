"""Cases of `tf.contrib.seq2seq`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import tensorflow as tf
from tests.compat.contrib.same import inputs

v1 = tf.compat.v1
BATCH, TIME, DEPTH, WORDS = 3, 5, 4, 6
LENGTHS = [5, 2, 3]


def losses(contrib: Any) -> Any:
    logits = tf.constant(inputs(BATCH, TIME, WORDS))
    targets = tf.constant([[1, 2, 3, 4, 5], [0, 1, 0, 0, 0], [5, 4, 3, 0, 0]])
    weights = tf.sequence_mask(LENGTHS, TIME, dtype=tf.float32)
    loss = contrib.seq2seq.sequence_loss
    return {
        "values": {
            "both": loss(logits, targets, weights),
            "steps": loss(logits, targets, weights, average_across_timesteps=False),
            "batch": loss(logits, targets, weights, average_across_batch=False),
            "none": loss(logits, targets, weights, average_across_timesteps=False, average_across_batch=False),
            "tiled": contrib.seq2seq.tile_batch((tf.constant([[1, 2], [3, 4]]), tf.constant([5, 6])), 2),
            "hard": contrib.seq2seq.hardmax(tf.constant([[1.0, 3.0, 2.0], [0.5, 0.1, 0.2]])),
        }
    }


def _decoded(contrib: Any, helper: Any, layer: Any, **options: Any) -> Any:
    cell = contrib.rnn.GRUCell(4)
    first = tf.constant(inputs(BATCH, 4, seed=4))
    decoder = contrib.seq2seq.BasicDecoder(cell, helper, first, layer)
    outputs, state, lengths = contrib.seq2seq.dynamic_decode(decoder, **options)
    return [list(outputs), state, lengths]


def training(contrib: Any) -> Any:
    helper = contrib.seq2seq.TrainingHelper(tf.constant(inputs(BATCH, TIME, DEPTH)), LENGTHS)
    return {"values": _decoded(contrib, helper, None)}


def greedy(contrib: Any) -> Any:
    table = tf.constant(inputs(WORDS, DEPTH, seed=6))
    helper = contrib.seq2seq.GreedyEmbeddingHelper(table, [1, 2, 3], 0)
    return {"values": _decoded(contrib, helper, None, maximum_iterations=4)}


def impute(contrib: Any) -> Any:
    helper = contrib.seq2seq.TrainingHelper(tf.constant(inputs(TIME, BATCH, DEPTH)), LENGTHS, time_major=True)
    return {"values": _decoded(contrib, helper, None, impute_finished=True, output_time_major=True, scope="mine")}


def _wrapped(contrib: Any, mechanism: Any, **options: Any) -> Any:
    cell = contrib.seq2seq.AttentionWrapper(contrib.rnn.LSTMCell(4), mechanism, **options)
    helper = contrib.seq2seq.TrainingHelper(tf.constant(inputs(BATCH, TIME, DEPTH)), LENGTHS)
    decoder = contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(BATCH, tf.float32))
    outputs, state, lengths = contrib.seq2seq.dynamic_decode(decoder)
    values = [outputs.rnn_output, tf.nest.flatten(state.cell_state), state.attention, state.time, state.alignments]
    if options.get("alignment_history"):
        values.append(state.alignment_history.stack())
    return {"values": [*values, lengths]}


def _memory() -> Any:
    return tf.constant(inputs(BATCH, 7, 6, seed=9)), tf.constant([7, 3, 5])


def bahdanau(contrib: Any) -> Any:
    mechanism = contrib.seq2seq.BahdanauAttention(5, *_memory())
    return _wrapped(contrib, mechanism, attention_layer_size=3, alignment_history=True)


def bahdanau_normalized(contrib: Any) -> Any:
    return _wrapped(contrib, contrib.seq2seq.BahdanauAttention(5, *_memory(), normalize=True), output_attention=False)


def luong(contrib: Any) -> Any:
    return _wrapped(contrib, contrib.seq2seq.LuongAttention(4, *_memory(), scale=True), attention_layer_size=6)


def luong_of_all_places(contrib: Any) -> Any:
    mechanism = contrib.seq2seq.LuongAttention(4, _memory()[0], probability_fn=contrib.seq2seq.hardmax)
    return _wrapped(contrib, mechanism, name="mine")


def several(contrib: Any) -> Any:
    seq2seq = contrib.seq2seq
    mechanisms = [seq2seq.LuongAttention(4, *_memory()), seq2seq.BahdanauAttention(3, *_memory())]
    cell = seq2seq.AttentionWrapper(contrib.rnn.GRUCell(4), mechanisms, attention_layer_size=[2, 3])
    helper = seq2seq.TrainingHelper(tf.constant(inputs(BATCH, TIME, DEPTH)), LENGTHS)
    first = cell.zero_state(BATCH, tf.float32).clone(cell_state=tf.constant(inputs(BATCH, 4, seed=4)))
    outputs, state, lengths = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, first), impute_finished=True)
    return {"values": [outputs.rnn_output, state.attention, list(state.alignments), lengths]}


def monotonic(contrib: Any) -> Any:
    mechanism = contrib.seq2seq.BahdanauMonotonicAttention(
        5, *_memory(), normalize=True, score_bias_init=-0.5, mode="recursive"
    )
    return _wrapped(contrib, mechanism)


def luong_monotonic(contrib: Any) -> Any:
    return _wrapped(contrib, contrib.seq2seq.LuongMonotonicAttention(4, *_memory(), scale=True))


def luong_hard(contrib: Any) -> Any:
    return _wrapped(contrib, contrib.seq2seq.LuongMonotonicAttention(4, *_memory(), mode="hard"))


def monotonic_walks(contrib: Any) -> Any:
    chances = tf.constant(np.random.RandomState(3).uniform(0, 1, [2, 6]).astype(np.float32))
    before = tf.constant([[1.0, 0, 0, 0, 0, 0], [0, 0.5, 0.5, 0, 0, 0]])
    modes = {mode: contrib.seq2seq.monotonic_attention(chances, before, mode) for mode in ("recursive", "parallel")}
    modes["hard"] = contrib.seq2seq.monotonic_attention(tf.round(chances), before, "hard")
    modes["product"] = contrib.seq2seq.safe_cumprod(chances, axis=1, exclusive=True)
    return {"values": modes}


def _searched(contrib: Any, cell: Any, state: Any, end: int = 0, **options: Any) -> Any:
    table = tf.constant(inputs(WORDS, DEPTH, seed=6) * 3)
    layers = v1.layers if tf.__version__ < "2" else importlib.import_module("lightwell.layers")
    layer = layers.Dense(WORDS, name="words", use_bias=False)
    decoder = contrib.seq2seq.BeamSearchDecoder(
        cell, table, tf.constant([1, 2, 3]), end, state, beam_width=3, output_layer=layer, **options
    )
    outputs, state, lengths = contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    inside = outputs.beam_search_decoder_output
    return outputs, inside, state, lengths


def beams(contrib: Any) -> Any:
    first = contrib.seq2seq.tile_batch(tf.constant(inputs(BATCH, 4, seed=4)), 3)
    outputs, inside, state, lengths = _searched(contrib, contrib.rnn.GRUCell(4), first)
    return {"values": [outputs.predicted_ids, list(inside), state.log_probs, state.finished, state.lengths, lengths]}


def beams_with_penalties(contrib: Any) -> Any:
    memory, sizes = _memory()
    tiled = contrib.seq2seq.tile_batch(memory, 3), contrib.seq2seq.tile_batch(sizes, 3)
    mechanism = contrib.seq2seq.LuongAttention(4, *tiled)
    cell = contrib.seq2seq.AttentionWrapper(
        contrib.rnn.LSTMCell(4), mechanism, attention_layer_size=4, alignment_history=True
    )
    options = {"reorder_tensor_arrays": False, "end": 4, "length_penalty_weight": 0.8, "coverage_penalty_weight": 0.1}
    outputs, inside, state, lengths = _searched(contrib, cell, cell.zero_state(BATCH * 3, tf.float32), **options)
    covered = state.accumulated_attention_probs
    history = state.cell_state.alignment_history.stack()
    return {"values": [outputs.predicted_ids, list(inside), state.log_probs, lengths, covered, history]}


def trees(contrib: Any) -> Any:
    draws = np.random.RandomState(5)
    steps, parents = draws.randint(0, 5, [6, 2, 3]), draws.randint(0, 3, [6, 2, 3])
    ids, origins = tf.constant(steps, tf.int32), tf.constant(parents, tf.int32)
    return {"values": {"tree": contrib.seq2seq.gather_tree(ids, origins, [6, 4], 4)}}


def scheduled(contrib: Any) -> Any:
    given = tf.constant(inputs(BATCH, TIME, DEPTH))
    table = tf.constant(inputs(4, DEPTH, seed=6))
    seq2seq = contrib.seq2seq
    truth = seq2seq.ScheduledEmbeddingTrainingHelper(given, LENGTHS, table, 0.0)
    own = seq2seq.ScheduledOutputTrainingHelper(given, LENGTHS, 1.0, auxiliary_inputs=given[:, :, :2])
    inference = seq2seq.InferenceHelper(
        lambda outputs: outputs, [4], tf.float32, given[:, 0], lambda sample: sample[:, 0] > 2.0
    )
    values = {}
    for name, helper in (("truth", truth), ("own", own), ("inference", inference)):
        with v1.variable_scope(name):
            values[name] = _decoded(contrib, helper, None, maximum_iterations=4)
    return {"values": values}


CASES = {
    "losses": losses,
    "training": training,
    "impute": impute,
    "greedy": greedy,
    "bahdanau": bahdanau,
    "bahdanau_normalized": bahdanau_normalized,
    "beams": beams,
    "beams_with_penalties": beams_with_penalties,
    "luong": luong,
    "luong_hard": luong_hard,
    "luong_monotonic": luong_monotonic,
    "luong_of_all_places": luong_of_all_places,
    "monotonic": monotonic,
    "monotonic_walks": monotonic_walks,
    "scheduled": scheduled,
    "several": several,
    "trees": trees,
}
