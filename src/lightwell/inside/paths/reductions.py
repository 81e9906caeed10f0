"""Reductions inside the graph: a few numbers in place of a whole tensor.

`stats("layers/*")` and `histogram("layers/dense")` stand wherever a selection stands. Only their results leave the
graph. Where a graph cannot grow any more, or a value is no tensor of a step, the same is computed of the array.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Stats:
    """Statistics over all elements of a tensor; NaN where it has none.

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


_OF_NOTHING = Stats(math.nan, math.nan, math.nan, math.nan, math.nan, zeros=math.nan, norm=0.0)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How the finite elements of a tensor are spread.

    Attributes:
        counts: elements per bin.
        edges: the bins' limits, one more than there are bins.
        sum: the sum of all elements.
        sum_squares: the sum of their squares.
    """

    counts: Array
    edges: Array
    sum: float
    sum_squares: float


@dataclass(frozen=True, eq=False)
class Reduction:
    """A selection whose values are reduced before they leave the graph.

    Attributes:
        name: what the user called: `stats`.
        selection: of what.
        settings: what else the user set.
        builder: makes a function of a tensor, and the entry it belongs to, that adds the reduction to the default
            graph; one for each graph.
        read: makes the result of what that gave, once fetched.
        of_array: makes the result of an array.
    """

    name: str
    selection: Any
    settings: Any
    builder: Callable[[], Callable[[Any, Any], Any]]
    read: Callable[[Any], Any]
    of_array: Callable[[Any], Any]

    @property
    def spelled(self) -> str:
        """As errors call it."""
        return self.name if " " in self.name else f"{self.name}(...)"


def stats(*selection: Any) -> Reduction:
    """Statistics of every selected value: mean, std, rms, min, max, share of zeros, norm.

    In a `Watch`, `step["layers/dense"]` is then a `Stats`.
    """
    return Reduction("stats", list(selection), None, lambda: _Traced(_stats_tensor), _read_stats, stats_of)


def histogram(*selection: Any, bins: int = 30) -> Reduction:
    """A histogram of every selected value; in a `Watch`, `step["layers/dense"]` is then a `Histogram`."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
        raise UsageError(f"histogram: bins must be a whole number of at least 1, got {bins!r}.")
    return Reduction(
        "histogram",
        list(selection),
        int(bins),
        lambda: _Traced(functools.partial(_histogram_tensor, bins=int(bins))),
        _read_histogram,
        lambda array: histogram_of(array, int(bins)),
    )


def holds_numbers(tensor: Any) -> bool:
    """Whether a tensor, a variable or an array can be reduced."""
    dtype = tf.as_dtype(tensor.dtype).base_dtype
    return bool(dtype.is_floating or dtype.is_integer or dtype.is_bool)


def stats_of(array: Any) -> Stats:
    """The statistics of an array."""
    x = _flat(array)
    if not x.size:
        return _OF_NOTHING
    squares = float(np.sum(np.square(x)))
    return Stats(
        mean=float(x.mean()),
        std=float(x.std()),
        rms=math.sqrt(squares / x.size),
        min=float(x.min()),
        max=float(x.max()),
        zeros=float(np.mean(x == 0)),
        norm=math.sqrt(squares),
    )


def histogram_of(array: Any, bins: int = 30) -> Histogram:
    """The histogram of an array."""
    x = _flat(array)
    x = x[np.isfinite(x)]
    low, high = (float(x.min()), float(x.max())) if x.size else (0.0, 1.0)
    counts, edges = np.histogram(x, bins=bins, range=(low, high if high > low else low + max(1.0, abs(low))))
    return Histogram(counts, edges, float(x.sum()), float(np.square(x).sum()))


def _flat(array: Any) -> Array:
    values = getattr(array, "flat_values", getattr(array, "values", array))  # ragged and sparse values hold arrays
    return np.asarray(values).astype(np.float64).ravel()


class _Traced:
    """A reduction as one function of the graph: traced once for each type of numbers, then one op for each tensor.

    Dozens of tensors are reduced at once, and making ops one by one in Python is what it costs.
    """

    def __init__(self, reduce: Callable[[Any], Any]) -> None:
        self._reduce = reduce
        self._functions: dict[Any, Any] = {}

    def __call__(self, tensor: Any, entry: Any = None) -> Any:
        x = _numbers(tensor)
        if x.dtype not in self._functions:
            signature = [tf.TensorSpec([None], x.dtype)]
            self._functions[x.dtype] = tf.function(self._reduce, input_signature=signature, autograph=False)
        return self._functions[x.dtype](x)


def _numbers(tensor: Any) -> Any:
    """The elements of a tensor, flat, in a type that holds them well enough."""
    if isinstance(tensor, tf.SparseTensor | tf.IndexedSlices):
        tensor = tensor.values
    elif isinstance(tensor, tf.RaggedTensor):
        tensor = tensor.flat_values
    tensor = tf.reshape(tf.convert_to_tensor(tensor), [-1])
    exact = tensor.dtype == tf.float64 or (tensor.dtype.is_integer and tensor.dtype.size > 2)
    return tf.cast(tensor, tf.float64 if exact else tf.float32)


def _stats_tensor(x: Any) -> Any:
    mean = tf.reduce_mean(x)
    parts = [
        tf.cast(tf.size(x), x.dtype),
        mean,
        tf.reduce_sum(tf.square(x - mean)),
        tf.reduce_sum(tf.square(x)),
        tf.reduce_min(x),
        tf.reduce_max(x),
        tf.reduce_sum(tf.cast(tf.equal(x, 0), x.dtype)),
    ]
    return tf.stack(parts)


def _read_stats(row: Array) -> Stats:
    count, mean, deviations, squares, low, high, zeros = (float(value) for value in row)
    if not count:
        return _OF_NOTHING
    return Stats(
        mean, math.sqrt(deviations / count), math.sqrt(squares / count), low, high, zeros / count, math.sqrt(squares)
    )


def _histogram_tensor(x: Any, bins: int) -> Any:
    x = tf.boolean_mask(x, tf.math.is_finite(x))
    is_empty = tf.equal(tf.size(x), 0)
    low = tf.where(is_empty, tf.zeros([], x.dtype), tf.reduce_min(x))
    high = tf.where(is_empty, tf.zeros([], x.dtype), tf.reduce_max(x))
    # One single value still needs a bin of some width.
    wide = tf.where(high > low, high, low + tf.maximum(tf.ones([], x.dtype), tf.abs(low)))
    counts = tf.histogram_fixed_width(x, [low, wide], nbins=bins)
    head = tf.stack([low, wide, tf.reduce_sum(x), tf.reduce_sum(tf.square(x))])
    return tf.concat([tf.cast(head, tf.float64), tf.cast(counts, tf.float64)], axis=0)


def _read_histogram(row: Array) -> Histogram:
    low, high, total, squares = (float(value) for value in row[:4])
    counts = np.asarray(row[4:], dtype=np.int64)
    return Histogram(counts, np.linspace(low, high, len(counts) + 1), total, squares)
