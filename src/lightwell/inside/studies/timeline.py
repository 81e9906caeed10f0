"""`Timeline`: what a model was at each of its checkpoints, as arrays along the steps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lightwell.base.tables import WIDTH, Table
from lightwell.errors import PathError
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.inside.paths.reductions import Stats
from lightwell.inside.paths.show import shape_text
from lightwell.inside.studies.sums import known_numbers
from lightwell.inside.watches.unit_stats import UnitStats

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class StatsOver:
    """Statistics of a weight at each checkpoint: `.norm[3]` is its norm at the fourth.

    Attributes:
        mean: the means of all elements.
        std: their standard deviations.
        rms: the roots of their mean squares.
        min: the smallest elements.
        max: the largest elements.
        zeros: the shares of elements that are exactly zero.
        norm: the Euclidean norms.
    """

    mean: Array
    std: Array
    rms: Array
    min: Array
    max: Array
    zeros: Array
    norm: Array


@dataclass(frozen=True, eq=False, repr=False)
class UnitStatsOver:
    """Statistics of the units of a value at each checkpoint: `.mean[3]` are their means at the fourth.

    Attributes:
        count: how many values each unit had.
        mean: the means of the units.
        std: their standard deviations.
        min: their smallest values.
        max: their largest values.
        zeros: the shares of values that are exactly zero; 1.0 is a dead unit.
    """

    count: Array
    mean: Array
    std: Array
    min: Array
    max: Array
    zeros: Array

    def __repr__(self) -> str:
        units = shape_text(self.mean.shape[1:])
        return f"UnitStatsOver({len(self.mean)} checkpoints, units {units}: .count, .mean, .std, .min, .max, .zeros)"


class Timeline(Mapping[str, Any]):
    """Values by path, one for each checkpoint, in the order of the steps.

    `timeline["metrics/accuracy"]` is an array; `timeline["weights/dense/kernel"].norm` too; of a tapped path,
    `timeline["layers/dense"].mean` has a row for each checkpoint and a column for each unit, or the path itself is an
    array [checkpoints, examples, ...] where values were asked for. The end of a path is enough where it is the only
    one.

    Attributes:
        steps: the global step of each checkpoint.
        checkpoints: their paths.
    """

    def __init__(self, checkpoints: Sequence[str], steps: Sequence[int], values: Mapping[str, Any]) -> None:
        self.checkpoints = list(checkpoints)
        self.steps = np.asarray(steps, np.int64)
        self._values = dict(values)

    def __getitem__(self, path: str) -> Any:
        if path in self._values:
            return self._values[path]
        alone = [name for name in self._values if name.endswith(f"/{path}")]
        if len(alone) == 1:
            return self._values[alone[0]]
        close = alone or nearest_paths(path, self._values) or list(self._values)
        raise PathError(f"over_checkpoints saw no {path!r}; it saw {', '.join(map(repr, close[:5]))}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def curves(self) -> dict[str, Array]:
        """One number for each checkpoint and path: a metric itself, the norm of a weight, the mean over all units."""
        return {name: curve for path in self for name, curve in _curves(path, self._values[path]).items()}

    def to_pandas(self) -> Any:
        """The curves as a frame, indexed by step."""
        import pandas as pd

        return pd.DataFrame(self.curves(), index=pd.Index(self.steps, name="global_step"))

    def plot(self) -> Any:
        """The curves as a figure of matplotlib."""
        from lightwell.inside.studies.plots import timeline_figure

        return timeline_figure(self)

    def __str__(self) -> str:
        return self._table().text(WIDTH)

    def __repr__(self) -> str:
        return f"Timeline({len(self.steps)} checkpoints, {list(self)})"

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        curves = self.curves()
        rows = [
            [_checkpoint_label(checkpoint, step), *(f"{curve[place]:.4g}" for curve in curves.values())]
            for place, (checkpoint, step) in enumerate(zip(self.checkpoints, self.steps, strict=True))
        ]
        return Table(["step", *curves], rows, right=range(len(curves) + 1))


def _checkpoint_label(checkpoint: str, step: int) -> str:
    """A checkpoint by its step; one that was edited by its name, as its parent has the same step."""
    name = os.path.basename(checkpoint)
    return name if "-edit" in name else f"{step:,}"


def timeline_of(checkpoints: Sequence[str], steps: Sequence[int], seen: Sequence[Mapping[str, Any]]) -> Timeline:
    """Joins what was seen of each checkpoint, by path; a path that one of them has not is left out."""
    shared = [path for path in seen[0] if all(path in one for one in seen)]
    return Timeline(checkpoints, steps, {path: _joined([one[path] for one in seen]) for path in shared})


def _joined(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, UnitStats | Stats):
        parts: dict[str, Any] = {
            one.name: np.stack([np.asarray(getattr(value, one.name)) for value in values]) for one in fields(first)
        }
        return StatsOver(**parts) if isinstance(first, Stats) else UnitStatsOver(**parts)
    return np.stack([np.asarray(value) for value in values])


def _curves(path: str, value: Any) -> dict[str, Array]:
    if isinstance(value, StatsOver):
        return {f"{path} norm": value.norm}
    if isinstance(value, UnitStatsOver):
        flat = [np.asarray(part, np.float64).reshape(len(part), -1) for part in (value.mean, value.zeros)]
        return {f"{path} mean": flat[0].mean(axis=1), f"{path} dead": (flat[1] == 1).mean(axis=1)}
    value = known_numbers(value)
    if value.dtype.kind not in "fiub":
        return {}
    return {path: value} if value.ndim == 1 else {f"{path} mean": value.reshape(len(value), -1).mean(axis=1)}
