"""Timelines and comparisons as figures of matplotlib, which is loaded here and nowhere else."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from lightwell.errors import UsageError

if TYPE_CHECKING:
    from lightwell.inside.studies.comparison import Comparison
    from lightwell.inside.studies.timeline import Timeline

_ACROSS = 3


def timeline_figure(timeline: Timeline) -> Any:
    """A small plot for each curve, over the steps."""
    curves = timeline.curves()
    rows = max(1, -(-len(curves) // _ACROSS))
    figure = _figure(4 * min(_ACROSS, max(len(curves), 1)), 2.6 * rows)
    for place, (name, curve) in enumerate(curves.items()):
        axes = figure.add_subplot(rows, min(_ACROSS, len(curves)), place + 1)
        axes.plot(timeline.steps, curve, marker="o", markersize=3)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("step", fontsize=8)
    return figure


def comparison_figure(comparison: Comparison) -> Any:
    """Two bars for each layer: how far its weights moved, and how alike its outputs are."""
    layers = [layer for layer in comparison.layers if layer.drift is not None or layer.alignment is not None]
    figure = _figure(9, 1 + 0.35 * max(len(layers), 1))
    names = [layer.path for layer in layers][::-1]
    for place, (word, values) in enumerate(
        (
            ("drift of weights", [one.drift for one in layers]),
            ("alignment of outputs", [one.alignment for one in layers]),
        )
    ):
        axes = figure.add_subplot(1, 2, place + 1)
        axes.barh(names, [value or 0.0 for value in values][::-1])
        axes.set_title(word, fontsize=9)
        if place:
            axes.set_yticklabels([])
            axes.set_xlim(0, 1.02)
    figure.suptitle(f"{comparison.first} → {comparison.second}", fontsize=10)
    return figure


def _figure(width: float, height: float) -> Any:
    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError('plot: matplotlib is not installed: pip install "lightwell[demo]".')
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
