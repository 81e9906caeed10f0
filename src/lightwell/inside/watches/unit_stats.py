"""`UnitStats`, statistics of each unit of a value over a data set, and `Statistics`, those of several paths.

Both print as tables: a path as its most and its least active units, several paths as a line for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lightwell.base.tables import Table
from lightwell.inside.paths.show import shape_text

Array = np.ndarray[Any, Any]
_MOST_UNITS = 8
_NUMBERS = ("mean", "std", "min", "max", "zeros")


@dataclass(frozen=True, eq=False, repr=False)
class UnitStats:
    """Statistics of a value over a data set, one number per unit (per element of one example's value).

    A dimension whose size differs from batch to batch (the length of a sequence) is summed over like the examples. A
    value without examples (a weight, the loss) counts once per batch.

    Attributes:
        count: how many values each unit had: the examples, times the sizes that were summed over.
        mean: the mean of each unit.
        std: its standard deviation.
        min: its smallest value.
        max: its largest value.
        zeros: the share of values that are exactly zero; 1.0 is a dead unit.
    """

    count: int
    mean: Array
    std: Array
    min: Array
    max: Array
    zeros: Array

    def __repr__(self) -> str:
        is_whole = np.size(self.mean) <= 2 * _MOST_UNITS
        more = "" if is_whole else f"; the {_MOST_UNITS} of largest and of smallest mean"
        return f"{self._title()}{more}\n\n{self._table().text()}"

    def _repr_html_(self) -> str:
        return self._table().html()

    def to_dict(self) -> dict[str, Any]:
        """As plain data: numbers and lists."""
        return {"count": int(self.count), **{part: np.asarray(getattr(self, part)).tolist() for part in _NUMBERS}}

    def over_units(self) -> tuple[float, float, float, float, float]:
        """Mean, standard deviation, smallest, largest and share of zeros over all units together."""
        if not np.size(self.mean):
            return (float("nan"),) * 5
        mean = float(np.mean(self.mean))
        variance = np.mean(np.square(self.std)) + np.mean(np.square(np.asarray(self.mean) - mean))
        return (
            mean,
            float(np.sqrt(variance)),
            float(np.min(self.min)),
            float(np.max(self.max)),
            float(np.mean(self.zeros)),
        )

    @property
    def dead(self) -> int:
        """How many units were zero for all examples."""
        return int(np.count_nonzero(np.asarray(self.zeros) == 1))

    def _title(self) -> str:
        units = int(np.size(self.mean))
        values = "value" if self.count == 1 else "values"
        return f"{units:,} unit{'' if units == 1 else 's'} over {self.count:,} {values}, {self.dead:,} of them dead"

    def _table(self) -> Table:
        """The units by their mean, the largest first; of many, the first and the last."""
        flat = [np.asarray(part).reshape(-1) for part in (self.mean, self.std, self.min, self.max, self.zeros)]
        order = np.argsort(-flat[0], kind="stable")
        if len(order) > 2 * _MOST_UNITS:
            order = np.concatenate((order[:_MOST_UNITS], order[-_MOST_UNITS:]))
        units = (", ".join(map(str, np.unravel_index(int(place), np.shape(self.mean)))) for place in order)
        rows = ((unit, *_cells(*(part[place] for part in flat))) for unit, place in zip(units, order, strict=True))
        return Table(("unit", *_NUMBERS), rows, right=range(1, 6), title=self._title())


class Statistics(dict[str, UnitStats]):
    """Path -> the statistics of its units."""

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = (
            (path, shape_text(np.shape(one.mean)), *_cells(*one.over_units()), f"{one.dead:,}")
            for path, one in self.items()
        )
        return Table(("path", "units", *_NUMBERS, "dead"), rows, right=range(2, 8))


def _cells(mean: float, std: float, low: float, high: float, zeros: float) -> tuple[str, ...]:
    return (*(f"{number:.4g}" for number in (mean, std, low, high)), f"{zeros:.1%}")
