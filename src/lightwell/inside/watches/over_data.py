"""Taps in evaluation: statistics per unit over the whole data set.

Each batch is reduced inside the graph; the sums over batches are in double precision and does not grow with the
data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.inside.paths.reductions import Reduction
from lightwell.inside.paths.request import as_list
from lightwell.inside.paths.sections.base import Entry
from lightwell.inside.watches.outputs import Output
from lightwell.inside.watches.step import Step
from lightwell.inside.watches.unit_stats import Array, Statistics, UnitStats

WHERE = "evaluate(taps=...)"


class EvalResult(dict[str, Any]):
    """The metrics of an evaluation, and what its taps saw.

    Attributes:
        taps: path to `UnitStats`; prints as a table.
    """

    def __init__(self, metrics: dict[str, Any], taps: Statistics) -> None:
        super().__init__(metrics)
        self.taps = taps


class OverData(Output):
    """Gathers the statistics of what a watch of `over_data` reads."""

    is_result = True

    def __init__(self) -> None:
        self._seen: dict[str, Moments] = {}

    def start(self, name: str, directory: str) -> None:
        """Starts over."""
        self._seen = {}

    def take(self, step: Step) -> None:
        """Takes a batch in."""
        for path, batch in step.items():
            if batch.count:
                self._seen[path] = self._seen[path].joined(batch) if path in self._seen else batch

    def result(self) -> Statistics:
        """The statistics over all batches seen."""
        return Statistics({path: seen.stats() for path, seen in self._seen.items()})


def over_data(taps: Any) -> Reduction:
    """The moments of each unit in a batch, for every value that taps select.

    Raises:
        UsageError: a tap is a reduction itself.
    """
    selections = as_list(taps)
    for one in selections:
        if isinstance(one, Reduction):
            raise UsageError(
                f"{WHERE} reduces over the data set by itself; give it plain paths, or use a Watch with "
                f"{one.name}(...) for statistics per batch."
            )
    return Reduction(
        "a statistic per unit", selections, None, lambda: _moments, lambda fetched: Moments(*fetched), _of_array
    )


def _of_array(array: Any) -> Moments:
    """The same of a value that is no tensor of a step, which counts once per batch."""
    x = np.asarray(array, np.float64)
    return Moments(1, x, np.zeros_like(x), x, x, (x == 0).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of each unit: count, mean, sum of squared distances from the mean, minimum and maximum."""

    count: Any
    mean: Array
    distance: Array
    min: Array
    max: Array
    zeros: Array

    @staticmethod
    def of(rows: Array) -> Moments:
        """The moments of an array with a row for each example, at least one."""
        x = rows.astype(np.float64)
        mean = x.mean(axis=0)
        distance = np.square(x - mean).sum(axis=0)
        return Moments(len(x), mean, distance, x.min(axis=0), x.max(axis=0), (x == 0).sum(axis=0).astype(np.float64))

    def joined(self, other: Moments) -> Moments:
        """The moments of both sets of values (Chan's rule, which loses no digits to large means)."""
        count = self.count + other.count
        apart = other.mean - self.mean
        return Moments(
            count,
            self.mean + apart * (other.count / count),
            self.distance + other.distance + np.square(apart) * (self.count * other.count / count),
            np.minimum(self.min, other.min),
            np.maximum(self.max, other.max),
            self.zeros + other.zeros,
        )

    def stats(self) -> UnitStats:
        """What they come to."""
        deviation = np.sqrt(self.distance / self.count)
        return UnitStats(int(self.count), self.mean, deviation, self.min, self.max, self.zeros / self.count)


def _moments(tensor: Any, entry: Entry) -> tuple[Any, ...]:
    if isinstance(tensor, tf.SparseTensor | tf.RaggedTensor):
        raise UsageError(
            f"{WHERE}: {entry.path!r} holds examples of different sizes; statistics per unit need a dense tensor of "
            "numbers."
        )
    x = tf.cast(tensor, tf.float64)
    if not entry.by_example or x.shape.rank == 0:
        x = x[tf.newaxis]
    open_sizes = [] if x.shape.rank is None else [axis for axis in range(1, x.shape.rank) if x.shape[axis] is None]
    axes = [0, *open_sizes]
    mean = tf.reduce_mean(x, axis=axes, keepdims=True)
    return (
        tf.reduce_prod(tf.gather(tf.shape(x, out_type=tf.int64), axes)),
        tf.squeeze(mean, axes),
        tf.reduce_sum(tf.square(x - mean), axis=axes),
        tf.reduce_min(x, axis=axes),
        tf.reduce_max(x, axis=axes),
        tf.reduce_sum(tf.cast(tf.equal(x, 0), tf.float64), axis=axes),
    )
