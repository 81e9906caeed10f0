"""How far points are from centers, by a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

SQUARED_EUCLIDEAN, COSINE = "squared_euclidean", "cosine"
METRICS = (SQUARED_EUCLIDEAN, COSINE)


@dataclass(frozen=True)
class Distances:
    """Of each point of a batch, to all centers and to the nearest one.

    Attributes:
        points: the points, scaled to length 1 if the metric is the cosine.
        to_all: `[batch, centers]`.
        nearest: the number of the nearest center, `[batch]`.
        to_nearest: `[batch]`.
    """

    points: Any
    to_all: Any
    nearest: Any
    to_nearest: Any


def distances(points: Any, centers: Any, metric: str) -> Distances:
    """The distances of points to centers; `metric` is one of `METRICS`."""
    if metric == COSINE:
        points, centers = of_length_one(points), of_length_one(centers)
        to_all = 1.0 - tf.matmul(points, centers, transpose_b=True)
        neighbors = tf.raw_ops.NearestNeighbors(points=points, centers=centers, k=1)
        share = 0.5  # vectors of length 1: half of the squared distance is 1 - cosine
    else:
        squares = tf.reduce_sum(tf.square(points), 1, keepdims=True)
        to_all = squares - 2.0 * tf.matmul(points, centers, transpose_b=True)
        to_all += tf.transpose(tf.reduce_sum(tf.square(centers), 1, keepdims=True))
        neighbors = tf.raw_ops.NearestNeighbors(points=points, centers=centers, k=1)
        share = 1.0
    nearest = tf.squeeze(neighbors.nearest_center_indices, -1)
    nearest.set_shape(points.shape[:1])  # the kernel does not infer it
    return Distances(points, to_all, nearest, tf.squeeze(neighbors.nearest_center_distances * share, -1))


def of_length_one(rows: Any) -> Any:
    """Rows scaled to length 1."""
    return tf.nn.l2_normalize(rows, axis=1)
