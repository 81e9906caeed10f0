"""Taps in prediction: tapped values ride with each row.

A value whose first dimension is the batch is cut per example; any other (a weight, a scalar, a reduction) is the same
for the whole batch and stands in `row.batch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lightwell.errors import PathError
from lightwell.inside.paths.batch import batch_size, examples_of
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.reductions import Reduction
from lightwell.inside.paths.request import TapRequest, as_list, make_request
from lightwell.inside.paths.select import Selection
from lightwell.run.engine.predict import batch_length
from lightwell.run.engine.program import Program

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
        names = [*self, *self.batch]
        close = nearest_paths(key, names) or names
        raise PathError(f"This row has no {key!r}; it has {', '.join(map(repr, close[:5]))}.")


class RowTaps:
    """The taps of a prediction, ready to be fetched.

    Args:
        program: what will run.
        taps: selections and reductions.
        size: the tensor with the number of examples in a batch; None reads it off the input.
    """

    def __init__(self, program: Program, taps: Sequence[Selection | Reduction], size: Any = None) -> None:
        self._request: TapRequest = make_request(program, as_list(taps), "predict(taps=...)", as_taps=True)
        size = batch_size(program) if size is None else size
        self.fetches: dict[str, Any] = {"values": dict(self._request.fetches), "batch": size}

    def rows(self, predictions: Any, fetched: Mapping[str, Any], by_example: bool) -> Iterator[Row]:
        """Rows of one batch; the whole batch as one row where `by_example` is False."""
        named = predictions if isinstance(predictions, Mapping) else {_PREDICTIONS: predictions}
        values = self._request.values(fetched["values"])
        if not by_example:
            yield Row({**named, **values}, {})
            return
        size = batch_length(named) if named else int(fetched["batch"])
        cut: dict[str, Any] = dict(named)
        whole: dict[str, Any] = {}
        for item in self._request.items:
            value = values[item.key]
            examples = examples_of(value, size) if item.reduction is None and item.entry.by_example else None
            (whole if examples is None else cut)[item.key] = value if examples is None else examples
        for index in range(size):
            yield Row({key: value[index] for key, value in cut.items()}, whole)
