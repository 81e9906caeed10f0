"""Reductions inside the graph: a few numbers in place of a whole tensor.

`stats("layers/*")` and `histogram("layers/dense")` stand wherever a selection stands. Only their results leave the
graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.sight.select import Selection


@dataclass(frozen=True)
class Stats:
    """Statistics over all elements of a tensor.

    Attributes:
        mean: the mean.
        std: the standard deviation.
        rms: the root of the mean square.
        min: the smallest element.
        max: the largest element.
        zeros: the share of elements that are exactly zero.
        norm: the Euclidean norm.
    """

    mean: float
    std: float
    rms: float
    min: float
    max: float
    zeros: float
    norm: float

    def as_dict(self) -> dict[str, float]:
        """The statistics by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, eq=False)
class Histogram:
    """How the elements of a tensor are spread.

    Attributes:
        counts: elements per bin.
        edges: the bins' limits, one more than there are bins.
        sum: the sum of all elements.
        sum_squares: the sum of their squares.
    """

    counts: np.ndarray[Any, Any]
    edges: np.ndarray[Any, Any]
    sum: float
    sum_squares: float


@dataclass(frozen=True, eq=False)
class Reduction:
    """A selection whose values are reduced before they leave the graph."""

    selection: Selection
    build: Callable[[Any], Any]
    read: Callable[[Any], Any]
    name: str


def stats(*selection: Selection) -> Reduction:
    """Statistics of every selected value: mean, std, rms, min, max, share of zeros, norm.

    In a `Watch`, `step["layers/dense"]` is then a `Stats`.
    """
    return Reduction(list(selection), _stats_tensor, lambda row: Stats(*(float(value) for value in row)), "stats")


def histogram(*selection: Selection, bins: int = 30) -> Reduction:
    """A histogram of every selected value; in a `Watch`, `step["layers/dense"]` is then a `Histogram`."""
    if bins < 1:
        raise UsageError(f"histogram: bins must be at least 1, got {bins}.")
    return Reduction(
        list(selection), lambda tensor: _histogram_tensor(tensor, bins), lambda row: _read_histogram(row), "histogram"
    )


def _numbers(tensor: Any) -> Any:
    if isinstance(tensor, tf.SparseTensor | tf.IndexedSlices):
        tensor = tensor.values
    elif isinstance(tensor, tf.RaggedTensor):
        tensor = tensor.flat_values
    tensor = tf.convert_to_tensor(tensor)
    if not (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_bool):
        raise UsageError(f"stats and histogram need numbers; {tensor.name} holds {tensor.dtype.name}.")
    return tf.cast(tensor, tf.float64 if tensor.dtype == tf.float64 else tf.float32)


def _stats_tensor(tensor: Any) -> Any:
    x = _numbers(tensor)
    mean, square = tf.reduce_mean(x), tf.reduce_mean(tf.square(x))
    deviation = tf.sqrt(tf.reduce_mean(tf.square(x - mean)))
    zeros = tf.reduce_mean(tf.cast(tf.equal(x, 0), x.dtype))
    parts = [mean, deviation, tf.sqrt(square), tf.reduce_min(x), tf.reduce_max(x), zeros, tf.norm(x)]
    return tf.stack(parts)


def _histogram_tensor(tensor: Any, bins: int) -> Any:
    x = tf.reshape(_numbers(tensor), [-1])
    low, high = tf.reduce_min(x), tf.reduce_max(x)
    wide = tf.where(high > low, high, low + 1)  # one single value still needs a bin of some width
    counts = tf.histogram_fixed_width(x, [low, wide], nbins=bins)
    head = tf.stack([low, wide, tf.reduce_sum(x), tf.reduce_sum(tf.square(x))])
    return tf.concat([head, tf.cast(counts, x.dtype)], axis=0)


def _read_histogram(row: Any) -> Histogram:
    low, high, total, squares = (float(value) for value in row[:4])
    counts = np.asarray(row[4:], dtype=np.int64)
    return Histogram(counts, np.linspace(low, high, len(counts) + 1), total, squares)
