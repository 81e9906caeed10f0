"""Quantiles of numbers with weights: NumPy functions over rows of which number it is, its value and its weight.

Values are counted exactly up to a size, then thinned out to points between which little weight lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
COLUMNS = 3
_POINTS_PER_BUCKET = 64
_FEWEST_POINTS = 8192


def with_batch(rows: Array, numbers: Array, weights: Array, buckets: int) -> Array:
    """The rows with those of a batch.

    Args:
        rows: `[rows, 3]`.
        numbers: `[batch, numbers]`.
        weights: `[batch]`, or `[1]` for all.
        buckets: into how many buckets numbers are put.
    """
    most = max(_FEWEST_POINTS, _POINTS_PER_BUCKET * buckets)
    weight = np.broadcast_to(np.asarray(weights, np.float64), numbers.shape[:1])
    parts = []
    for place in range(numbers.shape[1]):
        own = rows[rows[:, 0] == place]
        values = np.concatenate([own[:, 1], numbers[:, place]])
        points, sums = _merged(values, np.concatenate([own[:, 2], weight]))
        if len(points) > 2 * most:
            points, sums = _thinned(points, sums, most)
        parts.append(np.stack([np.full(len(points), place), points, sums], axis=1))
    return np.concatenate(parts).astype(np.float64) if parts else rows


def boundaries(rows: Array, place: int, buckets: int) -> Array:
    """The boundaries of the buckets of a number: each value where they suffice, else its quantiles.

    Args:
        rows: `[rows, 3]`.
        place: which number.
        buckets: how many.
    """
    own = rows[rows[:, 0] == place]
    values, weights = own[:, 1], own[:, 2]
    if len(values) > buckets:
        values, _ = _thinned(values, weights, buckets)
    return np.unique(values.astype(np.float32))


def _merged(values: Array, weights: Array) -> tuple[Array, Array]:
    """The different values in order, and the weight of each; NaN is none."""
    use = (weights > 0) & ~np.isnan(values)
    points, which = np.unique(values[use], return_inverse=True)
    return points, np.bincount(which.reshape(-1), weights=weights[use], minlength=len(points))


def _thinned(points: Array, weights: Array, number: int) -> tuple[Array, Array]:
    """So many of the points, the least and the largest among them, with the weight between them."""
    if number == 1:
        return points[-1:], weights.sum(keepdims=True)
    up_to = np.cumsum(weights)
    wanted = np.linspace(0, up_to[-1], number)
    places = np.unique(np.minimum(np.searchsorted(up_to, wanted), len(points) - 1))
    sums = np.diff(up_to[places], prepend=0.0)
    return points[places], sums
