"""Cases of `tf.contrib.seq2seq`, for TensorFlow 1.15 and for Lightwell."""

from __future__ import annotations

from typing import Any

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


CASES = {"losses": losses, "training": training, "impute": impute, "greedy": greedy}
