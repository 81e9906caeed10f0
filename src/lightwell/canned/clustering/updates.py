"""How centers move towards the points that they are nearest to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.canned.clustering.distances import COSINE, Distances, of_length_one
from lightwell.canned.clustering.state import ClusterState

_AT_LEAST = 1e-6


def moved(state: ClusterState, found: Distances, steps: int, metric: str) -> tf.Operation:
    """The op of one training step: the centers move, once all that reads them has been computed.

    By the cosine, centers that an iteration ends with are kept with length 1, as in `tf.estimator`, which relies on it
    when it goes on. Those that move with every batch are the mean of all their points so far, and keep its length.

    Args:
        state: the variables.
        found: the distances of the batch.
        steps: how many steps make an iteration.
        metric: what distances are measured by.
    """
    kept = of_length_one if metric == COSINE else tf.identity
    with tf.control_dependencies([found.to_all, found.to_nearest]):
        nearest = tf.identity(found.nearest)
    if state.counts is None:
        return _to_the_mean(state, found.points, nearest, kept)
    begin = tf.no_op() if state.steps_left is None else _begun(state, nearest, steps, kept)
    with tf.control_dependencies([begin]):
        return _towards_the_batch(state, found.points, tf.identity(nearest))


def _to_the_mean(state: ClusterState, points: Any, nearest: Any, kept: Callable[[Any], Any]) -> tf.Operation:
    """Each center becomes the mean of its points; one without points becomes zero, as in `tf.estimator`."""
    sums = tf.math.unsorted_segment_sum(points, nearest, state.number)
    ones = tf.ones([tf.shape(points)[0], 1], points.dtype)
    counts = tf.math.unsorted_segment_sum(ones, nearest, state.number)
    return state.centers.assign(kept(sums / (counts + _AT_LEAST)), read_value=False)


def _begun(state: ClusterState, after: Any, steps: int, kept: Callable[[Any], Any]) -> Any:
    """At the first step of an iteration, what the last one led to counts, and centers forget how many points they had.

    Args:
        state: the variables.
        after: what has to be computed before.
        steps: how many steps make an iteration.
        kept: what is kept of centers.
    """

    def begin() -> Any:
        return tf.group(
            state.steps_left.assign(steps - 1, read_value=False),
            state.centers.assign(kept(state.next_centers.read_value()), read_value=False),
            state.counts.assign(tf.zeros_like(state.counts), read_value=False),
        )

    with tf.control_dependencies([after]):
        is_over = state.steps_left.read_value() <= 0
    return tf.cond(is_over, begin, lambda: tf.group(state.steps_left.assign_sub(1, read_value=False)))


def _towards_the_batch(state: ClusterState, points: Any, nearest: Any) -> tf.Operation:
    """Each center becomes the mean of all points it has ever stood for, those of the batch added."""
    ids, place = tf.unique(nearest)
    seen = tf.gather(state.counts, ids)
    centers = tf.gather(state.next_centers, ids)
    new = tf.math.unsorted_segment_sum(tf.ones_like(place, tf.int64), place, tf.size(ids))
    sums = tf.math.unsorted_segment_sum(points, place, tf.size(ids))
    column = [-1, 1]
    change = sums - tf.cast(tf.reshape(new, column), points.dtype) * centers
    change *= tf.reshape(tf.math.reciprocal(tf.cast(seen + new, points.dtype)), column)
    with tf.control_dependencies([seen, change]):
        return tf.group(
            tf.raw_ops.ResourceScatterAdd(resource=state.counts.handle, indices=ids, updates=new),
            tf.raw_ops.ResourceScatterAdd(resource=state.next_centers.handle, indices=ids, updates=change),
        )
