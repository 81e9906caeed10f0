"""The results of runs: what `results.json` holds.

A run may measure only some rows. Each row keeps the run it comes from, so that a row measured again replaces the old
one and every figure can be traced to a date, a machine and versions. Ratios are never taken across runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.goals import Figures


@dataclass(frozen=True)
class RowResult:
    """One row.

    Attributes:
        run: the run it was measured in.
        figures: by contender.
    """

    run: str
    figures: Mapping[str, Figures]


@dataclass(frozen=True)
class GrowthPoint:
    """Time and memory of one contender at one size, and the run it was measured in."""

    axis: str
    contender: str
    size: int
    run: str = ""
    seconds: float | None = None
    start_seconds: float | None = None
    memory_mb: float | None = None
    absent: str = ""


@dataclass(frozen=True)
class Results:
    """All rows and all points, each with its run.

    Attributes:
        runs: run to what it was made on: date, machine, versions, settings.
        rows: row key to result.
        growth: points along the axes of growth.
    """

    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    rows: Mapping[str, RowResult] = field(default_factory=dict)
    growth: tuple[GrowthPoint, ...] = ()

    def updated(self, newer: Results) -> Results:
        """These results with newer ones in the place of those they measured again."""
        rows = {**self.rows, **newer.rows}
        again = {(point.axis, point.contender, point.size) for point in newer.growth}
        kept = (one for one in self.growth if (one.axis, one.contender, one.size) not in again)
        growth = (*kept, *newer.growth)
        used = {*(row.run for row in rows.values()), *(point.run for point in growth)}
        runs = {name: info for name, info in {**self.runs, **newer.runs}.items() if name in used}
        return Results(runs, rows, growth)

    def with_all(self, contenders: Mapping[str, Sequence[str]]) -> Results:
        """Without rows that were measured before one of their contenders was there."""
        rows = {
            key: row for key, row in self.rows.items() if key in contenders and set(contenders[key]) <= set(row.figures)
        }
        return replace(self, rows=rows)


def load(path: Path) -> Results:
    """Reads results; none, if the file is not there."""
    if not path.exists():
        return Results()
    raw = json.loads(path.read_text(encoding="utf-8"))
    rows = {
        key: RowResult(row["run"], {name: _figures(one) for name, one in row["figures"].items()})
        for key, row in raw["rows"].items()
    }
    return Results(raw["runs"], rows, tuple(GrowthPoint(**point) for point in raw["growth"] if "run" in point))


def save(results: Results, path: Path) -> None:
    """Writes results."""
    path.write_text(json.dumps(asdict(results), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _figures(raw: Mapping[str, Any]) -> Figures:
    return Figures(tuple(raw["values"]), raw["absent"], raw["failed"], raw["details"])
