"""The pictures of the results, as small PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.goals import AtLeast, judge, ratio
from benchmarks.growth import AXES, Axis
from benchmarks.peers import title_of
from benchmarks.results import GrowthPoint, Results
from benchmarks.rows import ROWS

_MET, _MISSED, _OTHER, _GOAL = "#2a7f62", "#c44536", "#9aa5b1", "#1f2933"
_COLOURS = ("#2a7f62", "#c98b2b", "#3b6ea5", "#8a4f9e", "#c44536")
_DPI = 100


def draw(results: Results, directory: Path) -> None:
    """Draws all that there are figures for."""
    import matplotlib

    matplotlib.use("Agg")
    directory.mkdir(exist_ok=True)
    bars = _bars(results)
    if bars:
        _draw_goals(bars, directory / "goals.png")
    for axis in AXES:
        points = [point for point in results.growth if point.axis == axis.key and point.seconds is not None]
        if points:
            _draw_growth(axis, points, directory / f"growth-{axis.key}.png")


def _bars(results: Results) -> list[tuple[str, float, float | None, str]]:
    """Label, ratio, goal and colour of every contender that Lightwell was held against."""
    bars = []
    for row in (row for row in ROWS if not row.is_big):
        result = results.rows.get(row.key)
        for contender in row.contenders[1:] if result and result.figures else ():
            found = ratio(result.figures[row.ours], result.figures[contender], row.kind)
            if found is None or row.key == "import":
                continue
            goals = [one for one in row.goals if isinstance(one, AtLeast) and one.against == contender]
            met = judge(goals[0], row.ours, result.figures, row.kind).is_met if goals else None
            colour = {True: _MET, False: _MISSED, None: _OTHER}[met]
            label = f"{row.key}: {title_of(contender)}".replace("`", "")
            bars.append((label, found.times, goals[0].times if goals else None, colour))
    return bars


def _draw_goals(bars: Sequence[tuple[str, float, float | None, str]], path: Path) -> None:
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter

    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.22 * len(bars)))
    places = range(len(bars))
    lengths = [times for _, times, _, _ in bars]
    axes.barh(places, [length - 1 for length in lengths], left=1, color=[bar[3] for bar in bars], height=0.7)
    for place, (_, times, goal, _) in enumerate(bars):
        axes.text(1.06 * max(times, goal or 0, 1), place, f"{times:.2f} x", va="center", fontsize=7)
        if goal is not None:
            axes.plot([goal, goal], [place - 0.45, place + 0.45], color=_GOAL, linewidth=2)
    axes.set_xscale("log")
    goals = [goal for _, _, goal, _ in bars if goal is not None]
    axes.set_xlim(0.7 * min(1, *lengths), 2.5 * max(1, *lengths, *goals))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda times, _: f"{times:g} x"))
    axes.axvline(1, color=_GOAL, linewidth=0.5)
    axes.set_yticks(places, [label for label, *_ in bars], fontsize=7)
    axes.invert_yaxis()
    axes.set_title("Lightwell, times as fast as … (black mark: goal; green met, red missed, grey no goal)", fontsize=8)
    _finish(figure, path)


def _draw_growth(axis: Axis, points: Sequence[GrowthPoint], path: Path) -> None:
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(10, 2.8))
    for panel, (key, label) in zip(
        panels, (("seconds", f"s, {axis.time_of}"), ("start_seconds", "s, start"), ("memory_mb", "MB")), strict=True
    ):
        for contender, colour in zip(axis.contenders, _COLOURS, strict=False):
            own = sorted((p for p in points if p.contender == contender), key=lambda point: point.size)
            heights: list[Any] = [getattr(point, key) for point in own]
            title = title_of(contender).replace("`", "")
            panel.plot([p.size for p in own], heights, "o-", color=colour, label=title, markersize=3)
        panel.set_xscale("symlog" if axis.sizes[0] == 0 else "log")
        panel.set_yscale("log" if key == "seconds" else "linear")
        panel.set_ylim(bottom=None if key == "seconds" else 0)
        panel.set_xlabel(axis.title, fontsize=8)
        panel.set_title(label, fontsize=8)
        panel.tick_params(which="both", labelsize=7)
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize=7)
    _finish(figure, path)


def _finish(figure: Any, path: Path) -> None:
    from matplotlib import pyplot

    figure.tight_layout()
    figure.savefig(path, dpi=_DPI, metadata={"Software": None})
    pyplot.close(figure)
