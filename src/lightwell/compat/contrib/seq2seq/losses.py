"""Losses of sequences, and repeated batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError


def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy of a sequence of words.

    Args:
        logits: `[batch, time, words]`.
        targets: `[batch, time]`.
        weights: `[batch, time]`; 0 behind the end of a row.
        average_across_timesteps: whether to take the mean over time, by weight.
        average_across_batch: whether to take the mean over rows, by weight.
        sum_over_timesteps: whether to add up over time.
        sum_over_batch: whether to add up over rows.
        softmax_loss_function: `(labels, logits) -> loss`; the sparse cross-entropy if None.
        name: of the operations.

    Returns:
        A scalar, or a tensor of the axes that are not reduced.
    """
    if len(logits.shape) != 3:
        raise UsageError(
            f"sequence_loss: Logits must be a [batch_size x sequence_length x logits] tensor, got {logits.shape}."
        )
    if average_across_timesteps and sum_over_timesteps:
        raise UsageError("sequence_loss: average_across_timesteps and sum_over_timesteps cannot both be set.")
    if average_across_batch and sum_over_batch:
        raise UsageError("sequence_loss: average_across_batch and sum_over_batch cannot both be set.")
    loss_of = softmax_loss_function or tf.nn.sparse_softmax_cross_entropy_with_logits
    with tf.compat.v1.name_scope(name, "sequence_loss", [logits, targets, weights]):
        words = tf.shape(logits)[2]
        flat = loss_of(labels=tf.reshape(targets, [-1]), logits=tf.reshape(logits, tf.stack([-1, words])))
        losses = tf.reshape(flat, tf.shape(targets)) * weights
        # Nearly nothing, so that rows without weight divide to 0.
        tiny = tf.constant(1e-12, losses.dtype)
        if average_across_timesteps and average_across_batch:
            return tf.reduce_sum(losses) / (tf.reduce_sum(weights) + tiny)
        if sum_over_timesteps and sum_over_batch:
            return tf.reduce_sum(losses) / (tf.cast(tf.math.count_nonzero(weights), losses.dtype) + tiny)
        if average_across_timesteps:
            losses = tf.reduce_sum(losses, 1) / (tf.reduce_sum(weights, 1) + tiny)
        elif sum_over_timesteps:
            losses = tf.reduce_sum(losses, 1)
        if average_across_batch:
            return tf.reduce_sum(losses, 0) / (tf.reduce_sum(weights, 0) + tiny)
        return tf.reduce_sum(losses, 0) if sum_over_batch else losses


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each row of a tensor, or of a structure of them, `multiplier` times in a row."""
    return tf.nest.map_structure(lambda one: tf.repeat(one, multiplier, axis=0), t)


def hardmax(logits: Any, name: str | None = None) -> Any:
    """1 at the greatest entry of each row, 0 elsewhere."""
    values = tf.convert_to_tensor(logits)
    return tf.one_hot(tf.argmax(values, -1), tf.shape(values)[-1], dtype=values.dtype)
