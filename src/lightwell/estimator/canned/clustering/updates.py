"""How centers move towards the points that they are nearest to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.estimator.canned.clustering.distances import COSINE, Distances, of_length_one
from lightwell.estimator.canned.clustering.state import ClusterState

_EPSILON = 1e-6


def move_centers(state: ClusterState, measured: Distances, steps: int, metric: str) -> tf.Operation:
    """The op of one training step: the centers move, once all that reads them has been computed.

    With the cosine, the centers of a finished iteration are scaled to length 1, as in `tf.estimator`, which relies on
    it when it resumes. Centers that move with every batch are the mean of all their points, and are not scaled.

    Args:
        state: the variables.
        measured: the distances of the batch.
        steps: how many steps make an iteration.
        metric: the distance metric.
    """
    normalize = of_length_one if metric == COSINE else tf.identity
    with tf.control_dependencies([measured.to_all, measured.to_nearest]):
        nearest = tf.identity(measured.nearest)
    if state.counts is None:
        return _to_the_mean(state, measured.points, nearest, normalize)
    begin = tf.no_op() if state.steps_left is None else _begin_iteration(state, nearest, steps, normalize)
    with tf.control_dependencies([begin]):
        return _towards_the_batch(state, measured.points, tf.identity(nearest))


def _to_the_mean(state: ClusterState, points: Any, nearest: Any, normalize: Callable[[Any], Any]) -> tf.Operation:
    """Each center becomes the mean of its points; one without points becomes zero, as in `tf.estimator`."""
    sums = tf.math.unsorted_segment_sum(points, nearest, state.number)
    ones = tf.ones([tf.shape(points)[0], 1], points.dtype)
    counts = tf.math.unsorted_segment_sum(ones, nearest, state.number)
    return state.centers.assign(normalize(sums / (counts + _EPSILON)), read_value=False)


def _begin_iteration(state: ClusterState, after: Any, steps: int, normalize: Callable[[Any], Any]) -> Any:
    """At the first step of an iteration, takes over the centers of the last one, and resets the point counts.

    Args:
        state: the variables.
        after: a tensor that must be computed before.
        steps: how many steps make an iteration.
        normalize: scales the centers before they are stored.
    """

    def begin() -> Any:
        return tf.group(
            state.steps_left.assign(steps - 1, read_value=False),
            state.centers.assign(normalize(state.next_centers.read_value()), read_value=False),
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
