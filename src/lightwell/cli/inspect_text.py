"""A model on disk as text: tables that line up in 80 columns, and a weight's history as a small chart."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Sequence

from lightwell.base.tables import WIDTH, Table
from lightwell.cli.inspect_data import CheckpointInfo, Detail, StoredModel, Weight
from lightwell.cli.output import printable
from lightwell.inside.paths.describe import UNKNOWN_KIND, LayerInfo
from lightwell.inside.paths.reductions import Stats
from lightwell.inside.paths.show import output_of, shape_of, shape_text

_MOST_POINTS = 20
_MOST_BARS = 60
_SHORTEST_NAME = 12
_GUESSED = "There is no description.json, so layers are guessed from the names of variables."
_BARS = "▁▂▃▄▅▆▇█"


def shown(model: StoredModel) -> str:
    """The whole model: layers, weights with statistics, checkpoints."""
    parts = [str(printable(model.description))]
    if model.description.layers and all(layer.kind == UNKNOWN_KIND for layer in model.description.layers):
        parts[0] += f"\n{_GUESSED}"
    weights = printable(model.weights())
    if weights:
        parts.append(_weights(weights))
    checkpoints = printable(model.checkpoints)
    parts.append(_checkpoints(checkpoints) if checkpoints else "No checkpoint has been written yet.")
    return "\n\n".join(parts)


def shown_in_detail(detail: Detail) -> str:
    """One path: what it is, and how its weights changed."""
    detail = printable(detail)
    lines = [f"{detail.path}{_belongs_to(detail)}"]
    if detail.value is not None:
        lines.append(f"  {detail.value.kind}, {shape_of(detail.value)}")
    is_layer = detail.layer is not None and detail.layer.path == detail.path
    if detail.layer is not None and is_layer:
        lines += _layer_lines(detail.layer)
    for weight in detail.weights:
        lines += ["", f"  weights/{weight.name}"] if is_layer else []
        lines += _weight_lines(weight)
        lines += _history(detail.history.get(weight.name, ()))
    return "\n".join(line.rstrip() for line in lines)


def number(value: float) -> str:
    """A number in few letters."""
    return f"{value:.4g}"


def chart(stats: Sequence[Stats], width: int) -> list[str]:
    """For each entry a line with its mean (`●`) and one standard deviation to each side, on a common scale."""
    low, high = _limits(stats)
    scale = (width - 1) / (high - low) if high > low else 0.0
    return [_whiskers(one, low, scale) for one in stats]


def sparkline(values: Sequence[float]) -> str:
    """Numbers as a row of bars; `!` for one that is not finite."""
    finite = [value for value in values if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    steps = (len(_BARS) - 1) / ((high - low) or 1.0)
    return "".join(_BARS[round((value - low) * steps)] if math.isfinite(value) else "!" for value in values)


def _whiskers(one: Stats, low: float, scale: float) -> str:
    if not _is_finite(one):
        return "not finite"
    left, middle, right = (round((x - low) * scale) for x in (one.mean - one.std, one.mean, one.mean + one.std))
    line = [" "] * left + ["─"] * (right - left + 1)
    line[left], line[right], line[middle] = "├", "┤", "●"
    return "".join(line)


def _limits(stats: Sequence[Stats]) -> tuple[float, float]:
    finite = [one for one in stats if _is_finite(one)]
    return min((s.mean - s.std for s in finite), default=0.0), max((s.mean + s.std for s in finite), default=0.0)


def _is_finite(stats: Stats) -> bool:
    return math.isfinite(stats.mean) and math.isfinite(stats.std)


def _belongs_to(detail: Detail) -> str:
    if detail.layer is None or detail.layer.path == detail.path:
        return ""
    return f", of {detail.layer.path}" + ("" if detail.layer.kind == UNKNOWN_KIND else f" ({detail.layer.kind})")


def _layer_lines(layer: LayerInfo) -> list[str]:
    lines = [] if layer.kind == UNKNOWN_KIND else [f"  kind    {layer.kind}"]
    lines += [f"  input   {shape_of(value)}" for value in layer.inputs]
    lines += [f"  output  {output_of(layer)}"] if layer.outputs else []
    lines += [f"  called  {layer.calls} times"] if layer.calls > 1 else []
    return [*lines, f"  params  {layer.parameters:,}" if layer.parameters else "  no weights"]


def _weight_lines(weight: Weight) -> list[str]:
    trained = {True: ", trained", False: ", not trained", None: ""}[weight.trainable]
    lines = [f"  {shape_text(weight.shape)} {weight.dtype}{trained}"]
    if weight.stats is None:
        return lines
    s = weight.stats
    parts = [f"{name} {number(getattr(s, name))}" for name in ("mean", "std", "min", "max", "norm")]
    joined = "  ".join([*parts, f"zeros {s.zeros:.1%}"])
    return [*lines, *textwrap.wrap(joined, WIDTH, initial_indent="  ", subsequent_indent="  ")]


def _history(points: Sequence[tuple[int | None, Stats]]) -> list[str]:
    if len(points) < 2:
        return []
    norms = sparkline([stats.norm for _, stats in points[-_MOST_BARS:]])
    if len(points) > _MOST_POINTS:  # evenly over all of them, the first and the last among them
        points = [points[round(i * (len(points) - 1) / (_MOST_POINTS - 1))] for i in range(_MOST_POINTS)]
    stats = [one for _, one in points]
    rows = ((_step(step), number(s.norm), number(s.mean)) for step, s in points)
    head, *table = Table(("step", "norm", "mean"), rows, right=(0, 1, 2)).lines()
    low, high = _limits(stats)
    bars = chart(stats, WIDTH - len(head) - 6)
    lines = [f"    {head}  {number(low)} ├ mean ± std ┤ {number(high)}"]
    lines += [f"    {row}  {bar}" for row, bar in zip(table, bars, strict=True)]
    return ["", *lines, f"    norm {norms}"]


def _weights(weights: Sequence[Weight]) -> str:
    rows: list[tuple[str, ...]] = []
    for weight in weights:
        s = weight.stats
        numbers = ("",) * 5 if s is None else (*map(number, (s.mean, s.std, s.min, s.max)), f"{s.zeros:.1%}")
        shape = shape_text(weight.shape)
        rows.append((weight.name, shape if s is not None else f"{shape} {weight.dtype}", *numbers))
    return _ruled(Table(("weight", "shape", "mean", "std", "min", "max", "zeros"), rows, right=range(1, 7)))


def _checkpoints(checkpoints: Sequence[CheckpointInfo]) -> str:
    rows: list[tuple[str, ...]] = []
    for one in checkpoints:
        written = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one.written))
        rows.append((one.name, _step(one.step), written, _size(one.size), "newest" if one.is_newest else ""))
    return _ruled(Table(("checkpoint", "step", "written", "size", ""), rows, right=(1, 3)))


def _ruled(table: Table) -> str:
    """A table with a rule below its head; names are shortened to what the other columns leave."""
    head, *lines = table.fitted(WIDTH, _SHORTEST_NAME).lines()
    return "\n".join([head, "─" * WIDTH, *lines])


def _step(step: int | None) -> str:
    return "?" if step is None else f"{step:,}"


def _size(count: float) -> str:
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
