"""The best tags of a linear chain (Viterbi, 1967)."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.compat.contrib.crf.cells import CrfDecodeBackwardRnnCell, CrfDecodeForwardRnnCell

_v1 = tf.compat.v1


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """The best tags of each row, in the graph.

    Args:
        potentials: unary scores `[batch, time, tags]`.
        transition_params: `[tags, tags]`, from row to column.
        sequence_length: how many places of each row count, `[batch]`.

    Returns:
        The tags `[batch, time]`, 0 behind a row's end, and the score of the best path, `[batch]`.
    """
    lengths = tf.cast(sequence_length, tf.int32)
    steps = tf.maximum(lengths - 1, 0)
    with _v1.variable_scope("crf_decode"):
        before, scores = _v1.nn.dynamic_rnn(
            CrfDecodeForwardRnnCell(transition_params),
            potentials[:, 1:],
            sequence_length=steps,
            initial_state=potentials[:, 0],
            dtype=tf.int32,
            scope="forward",
        )
        last = tf.argmax(scores, 1, output_type=tf.int32)[:, None]
        backwards, _ = _v1.nn.dynamic_rnn(
            CrfDecodeBackwardRnnCell(transition_params.shape[0]),
            tf.reverse_sequence(before, steps, seq_axis=1),
            sequence_length=steps,
            initial_state=last,
            dtype=tf.int32,
            scope="backward",
        )
    tags = tf.concat([last, tf.squeeze(backwards, [2])], 1)
    return tf.reverse_sequence(tags, lengths, seq_axis=1), tf.reduce_max(scores, 1)


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[int], Any]:
    """The best tags of one sequence, in NumPy.

    Args:
        score: unary scores `[time, tags]`.
        transition_params: `[tags, tags]`, from row to column.

    Returns:
        A list of tags, and their score.
    """
    best = np.zeros_like(score)
    before = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for place in range(1, len(score)):
        ways = best[place - 1][:, None] + transition_params
        before[place] = np.argmax(ways, 0)
        best[place] = score[place] + np.max(ways, 0)
    tags = [int(np.argmax(best[-1]))]
    for row in before[:0:-1]:
        tags.append(int(row[tags[-1]]))
    return tags[::-1], np.max(best[-1])
