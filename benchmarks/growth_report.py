"""`GROWTH.md` out of results: how time and memory grow, and what a unit of each costs."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import duration
from benchmarks.growth import AXES, Axis
from benchmarks.peers import title_of
from benchmarks.results import GrowthPoint, Results

_INTRO = """\
# Growth

Written by `make bench-growth`; [README.md](README.md) says how it measures. One process per point. Memory is the most
that was resident, above what there was before the work began. The columns of a unit (a layer, a watch, a row, a weight)
tell what each one more costs: the difference to the size before, divided by the difference of sizes. Where they stay
the same, cost is linear; where they rise, it grows faster. Figures of one table are comparable, those of different
machines and days are not."""


def render_growth(results: Results) -> str:
    """The page: a picture and a table per axis that was measured."""
    parts = [_INTRO]
    for axis in AXES:
        measured = [point for point in results.growth if point.axis == axis.key]
        if measured:
            parts += _section(axis, measured, results)
    return "\n\n".join(parts) + "\n"


def _section(axis: Axis, measured: list[GrowthPoint], results: Results) -> Iterator[str]:
    runs = sorted({point.run for point in measured if point.run in results.runs})
    dates = " and ".join(dict.fromkeys(results.runs[run]["date"] for run in runs))
    busy = [run for run in runs if results.runs[run]["load_before"] > 0.5 * results.runs[run]["cores"]]
    yield f"## {axis.title[0].upper()}{axis.title[1:]}"
    yield f"Measured {dates}. Time is of {axis.time_of}; start is {axis.start}." + (
        f" {axis.note}" if axis.note else ""
    )
    if busy:
        yield "Other work ran on the machine when a run of these began: its times are longer than they would be alone."
    yield f"![Time, start and memory: {axis.title}](images/growth-{axis.key}.png)"
    yield _table(axis, measured)


def _table(axis: Axis, measured: list[GrowthPoint]) -> str:
    lines = [f"| {axis.title} | | time | of one more | start | of one more | memory | of one more |", "|---" * 8 + "|"]
    for contender in axis.contenders:
        before: GrowthPoint | None = None
        for point in sorted((one for one in measured if one.contender == contender), key=lambda point: point.size):
            shown = f"| {point.size:,} | {title_of(contender)} |"
            if point.seconds is None or point.start_seconds is None or point.memory_mb is None:
                lines.append(f"{shown} absent: {point.absent} | | | | | |")
                continue
            times = f"{duration(point.seconds)} | {_more(point, before, 'seconds')}"
            starts = f"{duration(point.start_seconds)} | {_more(point, before, 'start_seconds')}"
            lines.append(
                f"{shown} {times} | {starts} | {point.memory_mb:,.0f} MB | {_more(point, before, 'memory_mb')} |"
            )
            before = point
    return "\n".join(lines)


def _more(point: GrowthPoint, before: GrowthPoint | None, key: str) -> str:
    """What one more unit costs at this size; empty at the first."""
    if before is None:
        return ""
    cost = (getattr(point, key) - getattr(before, key)) / (point.size - before.size)
    if key == "memory_mb":
        return f"{cost * 1e6 / 1e3:,.1f} kB" if abs(cost) >= 1e-3 else f"{cost * 1e6:,.1f} B"
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if abs(cost) * scale >= 1 or unit == "ns":
            return f"{cost * scale:,.1f} {unit}"
    return ""
