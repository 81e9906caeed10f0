"""The score of tags, the sum over all of them, and so the likelihood of a linear chain."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.crf.cells import CrfForwardRnnCell

_v1 = tf.compat.v1


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Any, Any]:
    """The log-likelihood of tags.

    Args:
        inputs: unary scores `[batch, time, tags]`.
        tag_indices: the tags, `[batch, time]`.
        sequence_lengths: how many places of each row count, `[batch]`.
        transition_params: `[tags, tags]`; if None, a new variable `transitions`.

    Returns:
        The log-likelihood of each row, and the transitions.
    """
    tags = tf.compat.dimension_value(inputs.shape[2])
    if transition_params is None:
        transition_params = _v1.get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return score - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


def crf_sequence_score(inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The score of tags: of each at its place, and of each step from one to the next."""
    return crf_unary_score(tag_indices, sequence_lengths, inputs) + crf_binary_score(
        tag_indices, sequence_lengths, transition_params
    )


def crf_multitag_sequence_score(inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The log of the sum over all paths of allowed tags; `tag_bitmap [batch, time, tags]` says which are."""
    never = tf.fill(tf.shape(inputs), tf.constant(float("-inf"), inputs.dtype))
    return crf_log_norm(tf.where(tag_bitmap, inputs, never), sequence_lengths, transition_params)


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The log of the sum over all paths; 0 for a row without places."""
    lengths = tf.cast(sequence_lengths, tf.int32)
    _, sums = _v1.nn.dynamic_rnn(
        CrfForwardRnnCell(transition_params),
        inputs[:, 1:],
        sequence_length=tf.maximum(lengths - 1, 0),
        initial_state=inputs[:, 0],
        dtype=inputs.dtype,
    )
    norm = tf.reduce_logsumexp(sums, 1)
    return tf.where(lengths <= 0, tf.zeros_like(norm), norm)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The scores of tags at their places, summed."""
    at_tags = tf.gather(inputs, tf.cast(tag_indices, tf.int32), axis=2, batch_dims=2)
    return tf.reduce_sum(at_tags * _counted(sequence_lengths, tag_indices, inputs.dtype), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The scores of steps from one tag to the next, summed."""
    steps = tf.stack([tag_indices[:, :-1], tag_indices[:, 1:]], 2)
    of_steps = tf.gather_nd(transition_params, steps)
    counted = _counted(sequence_lengths, tag_indices, of_steps.dtype)
    return tf.reduce_sum(of_steps * counted[:, 1:], 1)


def _counted(sequence_lengths: Any, tag_indices: Any, dtype: Any) -> Any:
    return tf.sequence_mask(sequence_lengths, tf.shape(tag_indices)[1], dtype=dtype)
