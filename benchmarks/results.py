"""What `results.json` holds: the figures of every row, each with the run that it comes from.

A run may measure some rows only; the others keep the figures of their own run. Ratios are taken within a run.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figures:
    """What one contender came to in one row."""

    run: str = ""  # the run it was measured in
    values: tuple[float, ...] = ()  # one per round
    problem: str = ""  # why there are none, as "absent: ..." or "fails: ..."
    details: Mapping[str, Any] = field(default_factory=dict)  # further figures

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def value(self, key: str = "") -> float:
        """A further figure, or the median."""
        return float(self.details[key]) if key else self.median


@dataclass(frozen=True)
class Results:
    """Runs by name (date, machine, versions, settings), and rows: the figures by contender or "contender@size"."""

    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: dict[str, dict[str, Figures]] = field(default_factory=dict)

    def add(self, key: str, figures: Mapping[str, Figures], run: str, info: dict[str, Any]) -> None:
        """Replaces the figures of a row, of a row with sizes those of the same points; drops runs without figures."""
        earlier = self.rows.get(key, {}) if any("@" in point for point in figures) else {}
        self.rows[key] = {**earlier, **figures}
        used = {one.run for row in self.rows.values() for one in row.values()}
        self.runs[run] = info
        for name in set(self.runs) - used:
            del self.runs[name]


def load(path: Path) -> Results:
    """Reads results; none, if there is no file."""
    if not path.exists():
        return Results()
    raw = json.loads(path.read_text(encoding="utf-8"))
    rows = {
        key: {
            point: Figures(one["run"], tuple(one["values"]), one["problem"], one["details"])
            for point, one in row.items()
        }
        for key, row in raw["rows"].items()
    }
    return Results(raw["runs"], rows)


def save(results: Results, path: Path) -> None:
    """Writes results, a run or a row on a line."""
    parts = []
    for part, content in asdict(results).items():
        lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(one)}" for key, one in content.items())
        parts.append(f' "{part}": {{\n{lines}\n }}')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
