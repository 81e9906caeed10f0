"""`Comparison`: two checkpoints of a model, layer by layer and example by example."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from lightwell.base.printable import printable_lines
from lightwell.base.tables import Table

_HEAD = ("layer", "drift", "alignment", "dead units", "of")
_MOST_SHOWN = 10


@dataclass(frozen=True)
class LayerChange:
    """What became of a layer.

    Attributes:
        path: its path; `weights/...` for a weight that belongs to none.
        drift: how far its weights moved, relative to their norm in the first checkpoint; None where it has none.
        alignment: how alike its outputs are for the same examples (centred kernel alignment), 1 for the same but for
            rotation and scale; NaN where they do not vary; None where they were not looked at.
        dead_before: how many of its units were zero for all examples, in the first checkpoint.
        dead_after: the same in the second.
        units: how many units it has.
    """

    path: str
    drift: float | None = None
    alignment: float | None = None
    dead_before: int | None = None
    dead_after: int | None = None
    units: int | None = None


@dataclass(frozen=True)
class Changed:
    """An example that is predicted otherwise.

    Attributes:
        key: what identifies it: its key, or its number in the input.
        before: what the first checkpoint predicts.
        after: what the second predicts.
    """

    key: Any
    before: Any
    after: Any


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two checkpoints compared. It prints as a table, renders in a notebook, and plots.

    Attributes:
        first: the name of the first checkpoint.
        second: the name of the second.
        layers: what became of each layer.
        examples: how many examples were looked at.
        decision: the prediction that was compared, as a path.
        changed: the examples for which it is another; for numbers, which always differ a little, it is empty.
        mean_change: for a prediction of numbers, how much it differs in the mean; else None.
    """

    first: str
    second: str
    layers: tuple[LayerChange, ...]
    examples: int
    decision: str | None
    changed: tuple[Changed, ...]
    mean_change: float | None = None

    def __getitem__(self, path: str) -> LayerChange:
        return next(layer for layer in self.layers if path in (layer.path, layer.path.partition("/")[2]))

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dataclasses.asdict(self)

    def plot(self) -> Any:
        """Drift and alignment of the layers, as a figure of matplotlib."""
        from lightwell.inside.studies.plots import comparison_figure

        return comparison_figure(self)

    def __repr__(self) -> str:
        lines = [self._title(), "", self._table().text()]
        if self.decision is not None:
            lines += ["", self._summary_text()]
            lines += [f"  {one.key}: {one.before} → {one.after}" for one in self.changed[:_MOST_SHOWN]]
            more = len(self.changed) - _MOST_SHOWN
            lines += [f"  … and {more:,} more, in .changed"] if more > 0 else []
        return printable_lines("\n".join(lines))

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        right = range(1, len(_HEAD))
        return Table(_HEAD, map(_row, self.layers), right, title=self._title(), note=self._summary_text())

    def _title(self) -> str:
        return f"{self.first} → {self.second}, {self.examples:,} examples"

    def _summary_text(self) -> str:
        if self.decision is None:
            return "No prediction was compared."
        if self.mean_change is not None:
            return f"{self.decision} differs by {self.mean_change:.4g} in the mean."
        share = len(self.changed) / max(self.examples, 1)
        return f"{self.decision} is another for {len(self.changed):,} examples ({share:.1%})."


def _row(layer: LayerChange) -> tuple[str, str, str, str, str]:
    dead = "" if layer.dead_after is None else f"{layer.dead_before} → {layer.dead_after}"
    return (
        layer.path,
        "" if layer.drift is None else f"{layer.drift:.3g}",
        "" if layer.alignment is None else f"{layer.alignment:.4f}",
        dead,
        "" if layer.units is None else f"{layer.units:,}",
    )
