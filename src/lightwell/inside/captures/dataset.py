"""Rows of a capture as the input of another model: a `tf.data.Dataset` that reads mapped files as it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.inside.captures.kinds import Array

if TYPE_CHECKING:
    from lightwell.inside.captures.column import Column
    from lightwell.inside.captures.store import Capture

_WINDOW = 2**16


@dataclass(frozen=True)
class Rows:
    """Which rows, in what form.

    Attributes:
        features: a path, several, or paths by name; None for all but the labels.
        labels: a path, or None.
        batch_size: the rows of a batch.
        shuffle: whether in another order; a number seeds it.
        repeat: whether without an end.
    """

    features: Any
    labels: str | None
    batch_size: int
    shuffle: bool | int
    repeat: bool


def dataset_of(store: Capture, rows: Rows) -> Any:
    """The dataset, in the graph that is the default, or eager.

    Raises:
        PathError: the capture has no such path.
        UsageError: values of different sizes, or no batch size.
    """
    if isinstance(rows.batch_size, bool) or not isinstance(rows.batch_size, int | np.integer) or rows.batch_size < 1:
        raise UsageError(f"dataset: batch_size must be a whole number of at least 1, got {rows.batch_size!r}.")
    names = _names([path for path in store if path != rows.labels] if rows.features is None else rows.features)
    columns = {name: store[path] for name, path in names.items()}
    if rows.labels is not None:
        columns[""] = store[rows.labels]
    for column in columns.values():
        column.chunks  # noqa: B018  refuses values of different sizes

    def batches() -> Iterator[tuple[Array, ...]]:
        source = _Order(len(store), rows.shuffle)
        while True:
            for places in source.batches(int(rows.batch_size)):
                yield tuple(_of(column, places) for column in columns.values())
            if not rows.repeat:
                return

    dataset = tf.data.Dataset.from_generator(batches, output_signature=tuple(map(_signature, columns.values())))

    def structured(*values: Any) -> Any:
        by_name = dict(zip(columns, values, strict=True))
        label = by_name.pop("", None)
        features = next(iter(by_name.values())) if isinstance(rows.features, str) else by_name
        return features if rows.labels is None else (features, label)

    dataset = dataset.map(structured).prefetch(2)
    if not rows.repeat:
        return dataset.apply(tf.data.experimental.assert_cardinality(-(-len(store) // int(rows.batch_size))))
    return dataset


class _Order:
    """The order of the rows: as they are, or windows of them in a random order, each mixed in itself."""

    def __init__(self, count: int, shuffle: bool | int) -> None:
        self._count, self._is_mixed = count, shuffle is not False
        self._random = np.random.default_rng(None if isinstance(shuffle, bool) else int(shuffle))

    def batches(self, size: int) -> Iterator[Any]:
        if not self._is_mixed:
            yield from (slice(start, min(start + size, self._count)) for start in range(0, self._count, size))
            return
        starts = np.arange(0, self._count, _WINDOW)
        self._random.shuffle(starts)
        left: Array = np.empty(0, np.int64)
        for start in starts:
            window = self._random.permutation(np.arange(start, min(start + _WINDOW, self._count)))
            left = np.concatenate([left, window])
            while len(left) >= size:
                yield left[:size]
                left = left[size:]
        if len(left):
            yield left


def _names(features: Any) -> dict[str, str]:
    if isinstance(features, str):
        return {features: features}
    if isinstance(features, Mapping):
        return {str(name): path for name, path in features.items()}
    if isinstance(features, list | tuple) and features:
        return {path: path for path in features}
    raise UsageError(
        f'dataset: features must be a path, a list of paths, or a dict {{"name": path}}; got {features!r}.'
    )


def _of(column: Column, places: Any) -> Array:
    return np.asarray(column[places])


def _signature(column: Column) -> tf.TensorSpec:
    dtype = tf.string if column.dtype == object else tf.as_dtype(column.dtype)
    return tf.TensorSpec([None, *column.shape[1:]], dtype)
