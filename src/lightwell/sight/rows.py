"""Taps in prediction: tapped values ride with each row.

A value whose first dimension is the batch is cut per example; any other (a weight, a scalar) is the same for the whole
batch and stands in `row.batch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.sight.reductions import Reduction
from lightwell.sight.request import Request, make_request
from lightwell.sight.select import Selection

_PREDICTIONS = "predictions"


class Row(dict[str, Any]):
    """One example's predictions and tapped values, by key and path.

    Attributes:
        batch: what belongs to the whole batch: weights, scalars, reductions.
    """

    def __init__(self, values: Mapping[str, Any], batch: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.batch = batch

    def __missing__(self, key: str) -> Any:
        if key in self.batch:
            return self.batch[key]
        raise KeyError(f"{key!r}; this row has {[*self, *self.batch]}")


class RowTaps:
    """The taps of a prediction, ready to be fetched."""

    def __init__(self, program: Program, taps: Sequence[Selection | Reduction]) -> None:
        asked = [taps] if isinstance(taps, str | Reduction | type) or callable(taps) else list(taps)
        self._request: Request = make_request(program, asked, "predict(taps=...)")
        self.fetches: dict[str, Any] = {"values": self._request.fetches, "batch": _batch_size(program)}

    def rows(self, predictions: Any, fetched: Mapping[str, Any], by_example: bool) -> Iterator[Row]:
        """Rows of one batch; the whole batch as one row where `by_example` is False."""
        named = predictions if isinstance(predictions, Mapping) else {_PREDICTIONS: predictions}
        values = self._request.values(fetched["values"])
        if not by_example:
            yield Row({**named, **values}, {})
            return
        size = int(fetched["batch"])
        cut: dict[str, Any] = dict(named)
        whole: dict[str, Any] = {}
        for item in self._request.wanted:
            value = values[item.path]
            per_example = item.reduction is None and item.entry.by_example and _rows_in(value) == size
            (cut if per_example else whole)[item.path] = value
        for index in range(size):
            yield Row({key: value[index] for key, value in cut.items()}, whole)


def _rows_in(value: Any) -> int:
    return len(value) if isinstance(value, np.ndarray) and value.ndim else -1


def _batch_size(program: Program) -> Any:
    """The number of examples in a batch, read off the first feature."""
    with program.graph.as_default():
        for leaf in tf.nest.flatten(program.inputs.features):
            if isinstance(leaf, tf.SparseTensor):
                return leaf.dense_shape[0]
            if isinstance(leaf, tf.RaggedTensor):
                return leaf.nrows()
            if isinstance(leaf, tf.Tensor) and leaf.shape.rank != 0:
                return tf.shape(leaf)[0]
        return tf.constant(-1)
