"""Batches of a capture on their way: their numbers, their examples, and the tapped values of each path, joined."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.inside.captures.kinds import Array


@dataclass(frozen=True, eq=False)
class Batches:
    """Tapped values of batches that follow each other; of a single one, where a value is more than an array.

    Attributes:
        number: which batch of the input the first one is, from 0.
        first_row: the number of the first example, from 0.
        lengths: how many examples each batch has.
        values: path -> value, as it was fetched, of all examples.
        every: the stride of the sample: 1 for all examples.
    """

    number: int
    first_row: int
    lengths: Array
    values: Mapping[str, Any]
    every: int = 1

    def __len__(self) -> int:
        return len(self.lengths)

    @functools.cached_property
    def examples(self) -> int:
        """How many examples they have together."""
        return int(self.lengths.sum())

    @functools.cached_property
    def starts(self) -> Array:
        """The number of the first example of each batch, and of the first one behind all of them."""
        return self.first_row + np.concatenate(([0], np.cumsum(self.lengths, dtype=np.int64)))

    @property
    def rows(self) -> Array:
        """The numbers of the examples in the sample."""
        first = -self.first_row % self.every
        return np.arange(self.first_row + first, self.first_row + self.examples, self.every, dtype=np.int64)

    @property
    def rows_of_each(self) -> Array:
        """How many examples of each batch are in the sample."""
        return np.diff(-(-self.starts // self.every))

    @functools.cached_property
    def bytes(self) -> int:
        """About how much memory they take."""
        return sum(map(size_of, self.values.values())) + 8 * self.examples

    def part(self, first: int, end: int) -> Batches:
        """Some of them, from the place `first` up to `end`; without a copy."""
        end = min(end, len(self))
        if first == 0 and end == len(self):
            return self
        start, stop = (int(self.starts[place]) - self.first_row for place in (first, end))
        values = {path: value[start:stop] for path, value in self.values.items()}
        return Batches(self.number + first, self.first_row + start, self.lengths[first:end], values, self.every)

    def selected_values(self) -> Mapping[str, Any]:
        """The values of the examples in the sample."""
        if self.every == 1:
            return self.values
        places = self.rows - self.first_row
        return {path: _taken(value, places) for path, value in self.values.items()}


def size_of(value: Any) -> int:
    """The bytes of a fetched value; a string counts with its letters."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return int(value.nbytes)
    if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue):
        return size_of(value.values) + int(value.row_splits.nbytes)
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        return size_of(value.values) + int(value.indices.nbytes)
    array = np.asarray(value)
    return sum(map(len, array.flat)) + 4 * array.size if array.dtype == object else int(array.nbytes)


def _taken(value: Any, places: Array) -> Any:
    """The examples at some places of a value."""
    if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue):
        starts, ends = value.row_splits[places], value.row_splits[places + 1]
        inner = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)] or [places[:0]])
        splits = np.concatenate(([0], np.cumsum(ends - starts)))
        return tf.compat.v1.ragged.RaggedTensorValue(_taken(value.values, inner), splits.astype(np.int64))
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        new_place = np.full(int(value.dense_shape[0]), -1, np.int64)
        new_place[places] = np.arange(len(places))
        mine = new_place[value.indices[:, 0]] >= 0
        indices = value.indices[mine].copy()
        indices[:, 0] = new_place[indices[:, 0]]
        shape = np.concatenate(([len(places)], value.dense_shape[1:]))
        return tf.compat.v1.SparseTensorValue(indices, value.values[mine], shape)
    return value[places]
