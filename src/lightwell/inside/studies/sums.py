"""Sums up two checkpoints, a batch at a time: takes the same batch as each of them computes it, gives a `Comparison`.

It stores sums of values, and the examples whose prediction changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lightwell.inside.studies.comparison import Changed, LayerChange
from lightwell.inside.studies.similarity import Alignment
from lightwell.run.checkpoints.reader import open_checkpoint

Array = np.ndarray[Any, Any]


class LayerSums:
    """What is summed up of one layer's outputs."""

    def __init__(self) -> None:
        self._alignment = Alignment()
        self._alive: list[Array] = []

    def take(self, first: Any, second: Any) -> None:
        """Takes a batch; what is no array of numbers with a row for each example is passed over."""
        pair = [known_numbers(one) for one in (first, second) if isinstance(one, np.ndarray)]
        if len(pair) < 2 or pair[0].dtype.kind not in "fiu" or pair[0].shape != pair[1].shape or pair[0].ndim < 2:
            return
        self._alignment.take(*pair)
        alive = [np.any(one != 0, axis=tuple(range(one.ndim - 1))) for one in pair]
        same = self._alive and self._alive[0].shape == alive[0].shape
        self._alive = [old | new for old, new in zip(self._alive, alive, strict=True)] if same else alive

    def change(self, path: str, drift: float | None) -> LayerChange:
        """What it came to."""
        if not self._alive:
            return LayerChange(path, drift)
        dead = [int((~one).sum()) for one in self._alive]
        return LayerChange(path, drift, self._alignment.value, dead[0], dead[1], len(self._alive[0]))


class Decisions:
    """Which examples are predicted otherwise.

    The prediction that is compared is the first that is one whole number or one string for each example; else the place
    of the largest of a vector of numbers; else a number itself, of which the mean difference is reported.
    """

    def __init__(self) -> None:
        self.path: str | None = None
        self.changed: list[Changed] = []
        self._is_number = False
        self._differences = 0.0
        self._count = 0

    @property
    def mean_change(self) -> float | None:
        """For numbers, the mean of the absolute difference."""
        return self._differences / max(self._count, 1) if self._is_number else None

    def take(self, first: Mapping[str, Any], second: Mapping[str, Any], keys: Array) -> None:
        """Takes the predictions of a batch."""
        if self.path is None:
            self.path = _decisive(first)
        if self.path is None:
            return
        one, other = (_decided(known_numbers(batch[self.path])) for batch in (first, second))
        self._is_number = one.dtype.kind == "f"
        if self._is_number:
            self._differences += float(np.abs(one - other).sum())
            self._count += one.size
            return
        for place in np.flatnonzero(one != other):
            self.changed.append(Changed(_plain(keys[place]), _plain(one[place]), _plain(other[place])))


def known_numbers(value: Any) -> Array:
    """An array that NumPy calculates with: numbers of types that only TensorFlow knows, as bfloat16, are float32."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def drift_of(first: str, second: str, names: Sequence[str]) -> float | None:
    """How far weights moved between two checkpoints, relative to where they were; None where there are none."""
    readers = [open_checkpoint(first), open_checkpoint(second)]
    moved = norm = 0.0
    has_weights = False
    for name in names:
        if not all(reader.has_tensor(name) for reader in readers):
            continue
        one, other = (known_numbers(reader.get_tensor(name)) for reader in readers)
        if one.dtype.kind not in "fiu" or one.shape != other.shape:
            continue
        has_weights = True
        moved += float(np.square(other.astype(np.float64) - one).sum())
        norm += float(np.square(one.astype(np.float64)).sum())
    if not has_weights:
        return None
    return math.sqrt(moved / norm) if norm else (0.0 if not moved else math.inf)


def _decisive(batch: Mapping[str, Any]) -> str | None:
    arrays = {key: known_numbers(value) for key, value in batch.items() if isinstance(value, np.ndarray)}
    single = [key for key, one in arrays.items() if one.ndim and one[0].size == 1]
    whole = [key for key in single if arrays[key].dtype.kind in "iubO"]
    vectors = [key for key, one in arrays.items() if one.ndim == 2 and one.shape[1] > 1 and one.dtype.kind == "f"]
    return next(iter([*whole, *vectors, *single]), None)


def _decided(values: Array) -> Array:
    if values.dtype.kind == "f" and values.ndim == 2 and values.shape[1] > 1:
        return values.argmax(axis=1)
    return values.reshape(len(values))


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value.decode(errors="replace") if isinstance(value, bytes) else value
