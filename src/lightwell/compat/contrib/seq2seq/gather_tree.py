"""Beams as whole sentences: `gather_tree` follows each back through the parents of its steps."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def gather_tree(
    step_ids: Any, parent_ids: Any, max_sequence_lengths: Any, end_token: Any, name: str | None = None
) -> Any:
    """The words of each beam from its first step to its last.

    Args:
        step_ids: the word that a step added to each beam, `[time, batch, beams]`.
        parent_ids: the beam of the step before that it continued, likewise.
        max_sequence_lengths: of each row, `[batch]`.
        end_token: stands behind the end of a sentence.
        name: of the operations.
    """
    with tf.compat.v1.name_scope(name, "gather_tree"):
        steps, parents = tf.convert_to_tensor(step_ids), tf.convert_to_tensor(parent_ids)
        lengths, end = tf.convert_to_tensor(max_sequence_lengths), tf.cast(end_token, steps.dtype)
        shape = tf.shape(steps)
        themselves = tf.tile(tf.range(shape[2], dtype=parents.dtype)[None], [shape[1], 1])

        def back(carried: Any, place: Any) -> Any:
            _, beams = carried
            words, origins, time = place
            inside = tf.tile((time < tf.cast(lengths, tf.int32))[:, None], [1, shape[2]])
            said = tf.gather(words, beams, batch_dims=1)
            before = tf.gather(origins, beams, batch_dims=1)
            ends = tf.fill(tf.shape(said), end)
            return tf.where(inside, said, ends), tf.where(inside, before, themselves)

        start = (tf.zeros_like(steps[0]), themselves)
        words, _ = tf.scan(back, (steps, parents, tf.range(shape[0])), start, reverse=True)
        is_end = tf.cast(tf.equal(words, end), tf.int32)
        over = tf.cumsum(is_end, axis=0, exclusive=True) > 0
        return tf.where(over, tf.fill(tf.shape(words), end), words)


def gather_tree_from_array(values: Any, parent_ids: Any, sequence_length: Any) -> Any:
    """Values of each step in the order of whole beams.

    Args:
        values: `[time, batch, beams, ...]`.
        parent_ids: `[time, batch, beams]`.
        sequence_length: of each beam, `[batch, beams]`.
    """
    parents = tf.convert_to_tensor(parent_ids)
    shape = tf.shape(parents)
    time, batch, beams = shape[0], shape[1], shape[2]
    themselves = tf.tile(tf.range(beams)[None, None], tf.stack([time, batch, 1]))
    mask = tf.transpose(tf.sequence_mask(sequence_length, time), [2, 0, 1])
    longest = tf.cast(tf.reduce_max(sequence_length, 1), tf.int32)
    in_order = gather_tree(themselves, parents, longest, beams + 1)
    return tf.gather(values, tf.where(mask, in_order, themselves), batch_dims=2)
