"""The growth section of `RESULTS.md`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import duration
from benchmarks.growth import AXES, Axis
from benchmarks.peers import title_of
from benchmarks.results import GrowthPoint, Results


def growth_section(results: Results) -> Iterator[str]:
    """A picture and a table per axis that was measured."""
    if not results.growth:
        return
    yield "## Growth"
    yield (
        "Lightwell beside Keras 3, one process per point. Memory is the most that was resident, above what there was "
        "before the training (the prediction) began. Start is the time to the end of the first step (of the first "
        "prediction)."
    )
    for axis in AXES:
        measured = [point for point in results.growth if point.axis == axis.key]
        if measured:
            date = results.runs[results.growth_runs[axis.key]]["date"]
            yield f"### Growth with {axis.title}\n\nMeasured {date}. Time is of {axis.time_of}."
            yield f"![Time, start and memory over {axis.title}](images/growth-{axis.key}.png)"
            yield _table(axis, measured)


def _table(axis: Axis, measured: list[GrowthPoint]) -> str:
    lines = [f"| {axis.title} | | time | start | memory |", "|---|---|---|---|---|"]
    for point in sorted(measured, key=lambda point: (point.size, axis.contenders.index(point.contender))):
        shown = f"| {point.size:,} | {title_of(point.contender)} |"
        if point.seconds is None or point.start_seconds is None or point.memory_mb is None:
            lines.append(f"{shown} absent: {point.absent} | | |")
            continue
        times = f"{duration(point.seconds)} | {duration(point.start_seconds)}"
        lines.append(f"{shown} {times} | {point.memory_mb:,.0f} MB |")
    return "\n".join(lines)
