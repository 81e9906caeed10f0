"""`Ablation`: what an evaluation comes to without each unit of a layer. A value: it prints, renders and plots."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightwell.base.metric_direction import resolved_mode
from lightwell.base.printable import printable_lines
from lightwell.base.tables import WIDTH, Table
from lightwell.errors import UnknownMetric, UsageError, WrongType
from lightwell.inside.edits.base import Array
from lightwell.inside.paths.nearest import nearest_paths

_MOST_SHOWN = 20


@dataclass(frozen=True)
class AblationRow:
    """What came of zeroing one unit.

    Attributes:
        unit: the unit: an index, or a tuple of them.
        metrics: metric name to its value without the unit.
        change: metric name to how much that differs from the baseline.
    """

    unit: Any
    metrics: Mapping[str, float]
    change: Mapping[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class Ablation:
    """The metrics of a model with each unit of one value zeroed, one at a time; a sequence of `AblationRow`s.

    Attributes:
        path: the value.
        per: `"channel"` or `"unit"`.
        units: which were zeroed, in order: indices, or tuples of them.
        baseline: metric name to its value with nothing zeroed.
        metrics: metric name to an array, one number for each unit.
        global_step: the step of the checkpoint.

    Example:
        `est.ablate(input_fn, "layers/conv2d").worst(3)`
    """

    path: str
    per: str
    units: tuple[Any, ...]
    baseline: Mapping[str, float]
    metrics: Mapping[str, Array]
    global_step: int

    def __len__(self) -> int:
        return len(self.units)

    def __getitem__(self, place: int) -> AblationRow:
        """One row, by its place among them; of a unit, `ablation.units.index(unit)` tells the place."""
        if isinstance(place, bool) or not isinstance(place, int | np.integer):
            raise WrongType(f"Ablation: a row is chosen by its place, 0 to {len(self) - 1}, got {place!r}.")
        if not -len(self) <= place < len(self):
            raise IndexError(f"Ablation: there is no row {place}; there are {len(self)}.")
        values = {name: float(numbers[place]) for name, numbers in self.metrics.items()}
        return AblationRow(self.units[place], values, {name: float(self.change(name)[place]) for name in values})

    def __iter__(self) -> Iterator[AblationRow]:
        return map(self.__getitem__, range(len(self)))

    def change(self, metric: str) -> Array:
        """How much a metric differs from the baseline, for each unit.

        Raises:
            UnknownMetric: there is no such metric.
        """
        if metric not in self.metrics:
            known = list(self.metrics)
            raise UnknownMetric(metric, known, nearest_paths(metric, known), "Ablation: evaluations")
        return self.metrics[metric] - self.baseline[metric]

    def worst(self, k: int = 10, by: str | None = None, mode: str = "auto") -> Ablation:
        """The `k` units without which the model is worst, the worst first.

        Args:
            k: how many.
            by: the metric that counts; None for the loss, or else the first metric.
            mode: `"max"` if high values of it are good, `"min"` if low ones are, `"auto"` to go by its name.
        """
        order = self._order(by, mode)[:k]
        return dataclasses.replace(
            self,
            units=tuple(self.units[place] for place in order),
            metrics={name: values[order] for name, values in self.metrics.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as JSON takes it."""
        return {
            "path": self.path,
            "per": self.per,
            "global_step": self.global_step,
            "baseline": dict(self.baseline),
            "units": [
                {"unit": unit, **{name: float(values[place]) for name, values in self.metrics.items()}}
                for place, unit in enumerate(self.units)
            ],
        }

    def to_pandas(self) -> Any:
        """A frame with a row for each unit: the metrics, and how much each differs from the baseline."""
        import pandas as pd

        data: dict[str, Any] = {}
        for name, values in self.metrics.items():
            data[name], data[f"{name}_change"] = values, self.change(name)
        return pd.DataFrame(data, index=pd.Index(list(self.units), name=self.per, tupleize_cols=False))

    def plot(self, by: str | None = None, ax: Any = None) -> Any:
        """A bar for each unit: how much the metric differs from the baseline; gives the axes of matplotlib.

        Raises:
            UsageError: matplotlib is not installed.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise UsageError("Ablation.plot needs matplotlib. Install it: pip install matplotlib.") from error
        metric = self._metric(by)
        if ax is None:
            _, ax = plt.subplots(figsize=(max(4.0, min(0.25 * len(self) + 1.5, 14.0)), 3.0))
        places = np.arange(len(self))
        ax.bar(places, self.change(metric))
        ax.axhline(0.0, color="black", linewidth=0.8)
        step = max(1, len(self) // 32)
        ax.set_xticks(places[::step], [_unit_label(unit) for unit in self.units[::step]], rotation=90, fontsize=7)
        ax.set_xlabel(f"{self.per} of {self.path} zeroed")
        ax.set_ylabel(f"change of {metric}")
        ax.set_title(f"{metric} without it; baseline {self.baseline[metric]:.4g}", fontsize=9)
        return ax

    def __repr__(self) -> str:
        return printable_lines("\n".join([self._title(), self._table().text(WIDTH), *self._notes()]))

    def _repr_html_(self) -> str:
        return self._table().html()

    def _title(self) -> str:
        return f"{self.path} at step {self.global_step}: {len(self)} {self.per}s zeroed, one at a time"

    def _notes(self) -> list[str]:
        notes = [f"… {len(self) - _MOST_SHOWN} more, less harmful"] if len(self) > _MOST_SHOWN else []
        same = [f"{name} {self.baseline[name]:.4g}" for name in self.metrics if name not in self._telling()]
        return [*notes, f"The same without any of them: {', '.join(same)}."] if same else notes

    def _telling(self) -> list[str]:
        """The metrics that some unit makes a difference for; all, where none does."""
        return [name for name in self.metrics if np.any(self.change(name) != 0)] or list(self.metrics)

    def _table(self) -> Table:
        """The baseline, and the worst units first."""
        names = self._telling()
        changes = {name: self.change(name) for name in names}
        head = [self.per, *(cell for name in names for cell in (name, "change"))]
        rows = [["baseline", *(cell for name in names for cell in (f"{self.baseline[name]:.4g}", ""))]]
        for place in self._shown_order()[:_MOST_SHOWN]:
            cells = [
                cell for name in names for cell in (f"{self.metrics[name][place]:.4g}", f"{changes[name][place]:+.4g}")
            ]
            rows.append([_unit_label(self.units[place]), *cells])
        right = range(1, len(head))
        return Table(head, rows, right, group=2, title=self._title(), note=" ".join(self._notes()))

    def _shown_order(self) -> Any:
        try:
            return self._order(None, "auto")
        except UsageError:  # no metric whose good values are known: in their own order
            return range(len(self))

    def _order(self, by: str | None, mode: str) -> Array:
        metric = self._metric(by)
        change = self.change(metric)
        sign = 1.0 if resolved_mode(mode, metric, "Ablation.worst") == "max" else -1.0
        return np.argsort(sign * change, kind="stable")

    def _metric(self, by: str | None) -> str:
        return by if by is not None else "loss" if "loss" in self.metrics else next(iter(self.metrics))


def _unit_label(unit: Any) -> str:
    return ",".join(map(str, unit)) if isinstance(unit, tuple) else str(unit)
