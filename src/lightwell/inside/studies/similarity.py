"""How alike are two sets of activations of the same examples? Centred kernel alignment, summed up batch by batch.

1 is the same but for rotation and scale, 0 is unrelated. With the unbiased estimate, batches may be small, and only two
tables of a batch's examples by its examples are in memory, however wide a layer is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_FEWEST = 4
_MOST = 512


class Alignment:
    """Sums up pairs of batches."""

    def __init__(self) -> None:
        self._both = self._first = self._second = 0.0

    def take(self, first: Array, second: Array) -> None:
        """Takes the activations of one batch: a row for each example, in the same order; of a large batch, some."""
        if len(first) < _FEWEST:
            return
        one, other = _products(first[:_MOST]), _products(second[:_MOST])
        self._both += _dependence(one, other)
        self._first += _dependence(one, one)
        self._second += _dependence(other, other)

    @property
    def value(self) -> float:
        """The alignment; NaN where a layer is the same for all examples, or batches have fewer than four."""
        product = self._first * self._second
        return self._both / math.sqrt(product) if product > 0 else math.nan


def _products(rows: Array) -> Array:
    """The inner products of all examples with each other, those with themselves left out."""
    flat = rows.reshape(len(rows), -1).astype(np.float64)
    flat -= flat.mean(axis=0)  # changes no result, and keeps digits
    products = flat @ flat.T
    np.fill_diagonal(products, 0.0)
    return products


def _dependence(one: Array, other: Array) -> float:
    """The unbiased estimate of the Hilbert-Schmidt independence criterion."""
    count = len(one)
    apart = one.sum() * other.sum() / ((count - 1) * (count - 2))
    crossed = 2 * (one.sum(axis=0) @ other.sum(axis=0)) / (count - 2)
    return float((np.sum(one * other) + apart - crossed) / (count * (count - 3)))
