"""A description rendered as a table of 80 columns, and as HTML for a notebook."""

from __future__ import annotations

import html
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lightwell.base.printable import printable
from lightwell.base.tables import WIDTH, Cell, Table
from lightwell.inside.paths.describe import Description, LayerInfo, ValueInfo
from lightwell.run.engine.op_devices import OpDevice

_Row = tuple[str, str, str, str]
_WIDTHS = (34, 20, 14, 9)  # layer, kind, output, parameters: with the gaps, 80 columns


def as_text(description: Description) -> str:
    """The model as a table of layers, at most 80 columns wide."""
    rows = [_value_row(value) for value in description.features]
    shown: set[str] = set()
    for layer in in_tree_order(description.layers):
        rows += _scope_rows(layer.name, shown)
        shown.add(layer.name)
        name = "  " * layer.name.count("/") + layer.name.rpartition("/")[2]
        times = f" ×{layer.calls}" if layer.calls > 1 else ""
        rows.append((name + times, layer.kind, output_of(layer), short_count(layer.parameters)))
    rows += [_value_row(value) for value in (*description.predictions, *description.labels)]
    head, *lines = Table(("layer", "kind", "output", "params"), rows, right=(3,), widths=_WIDTHS).lines()
    lines = [head, "─" * WIDTH, *lines, "─" * WIDTH, _total(description)]
    hints = [f"The path of a layer is layers/ and its name: {printable(layer.path)}" for layer in description.layers]
    if hints:
        whole = (hint for hint in hints if len(hint) <= WIDTH)  # so that it can be copied
        lines.append(next(whole, f"{hints[0][: WIDTH - 1]}…"))
    lines += _device_lines(description.devices)
    lines += ["─" * WIDTH, *map(printable, description.notes)] if description.notes else []
    return "\n".join(lines)


def as_html(description: Description) -> str:
    """The model as an HTML table, for a notebook."""
    rows = [(_path_cell(value.path), *_value_row(value)[1:]) for value in description.features]
    for layer in in_tree_order(description.layers):
        weights = ", ".join(f"{weight.attribute} {list(weight.shape)}" for weight in layer.weights)
        count = Cell(f"{layer.parameters:,}", tooltip=weights) if layer.parameters else ""
        rows.append((_path_cell(layer.path), layer.kind, output_of(layer), count))
    results = (*description.predictions, *description.labels)
    rows += [(_path_cell(value.path), *_value_row(value)[1:]) for value in results]
    table = Table(("path", "kind", "output", "parameters"), rows, note=_total(description)).html()
    below = "".join(f"<div>{html.escape(line)}</div>" for line in _device_lines(description.devices))
    notes = html.escape("\n".join(map(printable, description.notes)))
    return table + below + (f"<pre>{notes}</pre>" if notes else "")


def in_tree_order(layers: Sequence[LayerInfo]) -> Iterator[LayerInfo]:
    """Layers in the order of their calls, but each before those inside it: a call ends after the calls it makes."""
    by_name = {layer.name: layer for layer in layers}
    yielded: set[str] = set()
    for layer in layers:
        parts = layer.name.split("/")
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            if name in by_name and name not in yielded:
                yielded.add(name)
                yield by_name[name]


def output_of(layer: LayerInfo) -> str:
    """The shape of a layer's output, and how many more outputs it has."""
    if not layer.outputs:
        return ""
    more = len(layer.outputs) // layer.calls - 1
    return shape_of(layer.outputs[0]) + (f" +{more}" if more > 0 else "")


def shape_of(value: ValueInfo) -> str:
    """A shape in few letters: `?×28×28`."""
    return "unknown" if value.shape is None else shape_text(value.shape)


def shape_text(sizes: Iterable[int | None]) -> str:
    """Sizes in few letters; `?` is one that is known only when the model runs."""
    return "×".join("?" if size is None else str(size) for size in sizes) or "scalar"


def short_count(count: int) -> str:
    """A number of parameters in at most nine letters; nothing for none."""
    if not count:
        return ""
    exact = f"{count:,}"
    if len(exact) <= _WIDTHS[3]:
        return exact
    return f"{count / 1e6:.1f}M" if count < 1e9 else f"{count / 1e9:.1f}B"


def _total(description: Description) -> str:
    fixed = description.parameters - description.trainable_parameters
    slots = len(description.slots)
    return (
        f"{description.parameters:,} parameter{'' if description.parameters == 1 else 's'}"
        + (f", {fixed:,} of them not trained" if fixed else "")
        + (f"; {slots} variable{'s' if slots > 1 else ''} of optimizer state" if slots else "")
    )


def _device_lines(devices: Sequence[OpDevice]) -> list[str]:
    """How many ops run on each device, and, by type, those that stay on a CPU beside a GPU, with the reason."""
    if not devices:
        return []
    counts = Counter(one.device for one in devices)
    lines = ["Ops of a step: " + ", ".join(f"{count} on {device}" for device, count in sorted(counts.items())) + "."]
    stay: dict[tuple[str, str], list[OpDevice]] = {}
    for one in devices:
        if one.reason:
            stay.setdefault((one.kind, one.reason), []).append(one)
    for (kind, reason), ops in sorted(stay.items(), key=lambda item: -len(item[1])):
        times = f" ×{len(ops)}" if len(ops) > 1 else ""
        lines += textwrap.wrap(
            f"  {ops[0].device}  {kind}{times} ({printable(ops[0].name)}): {reason}", WIDTH, subsequent_indent="    "
        )
    return lines


def _path_cell(path: str) -> Cell:
    return Cell(path, indent=max(path.count("/") - 1, 0))


def _scope_rows(name: str, shown: set[str]) -> list[_Row]:
    """A row for each enclosing scope that was not shown yet, as a layer or as a scope."""
    rows = []
    parts = name.split("/")[:-1]
    for depth, part in enumerate(parts):
        scope = "/".join(parts[: depth + 1])
        if scope not in shown:
            rows.append(("  " * depth + part + "/", "", "", ""))
            shown.add(scope)
    return rows


def _value_row(value: ValueInfo) -> _Row:
    return value.path, value.kind, shape_of(value), ""
