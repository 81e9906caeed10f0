"""A description made visible: a table of 80 columns, and HTML for a notebook. Takes plain data, gives text."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence

from lightwell.sight.describe import Description, LayerInfo, ValueInfo
from lightwell.sight.tables import WIDTH
from lightwell.visible import visible

_WIDTHS = (34, 20, 14, 9)  # layer, kind, output, parameters: with the gaps, 80 columns
_LEFT = "text-align:left"


def as_text(description: Description) -> str:
    """The model as a table of layers, at most 80 columns wide."""
    lines = [_line("layer", "kind", "output", "params"), "─" * WIDTH]
    lines += [_value_line(value) for value in description.features]
    shown: set[str] = set()
    for layer in in_tree_order(description.layers):
        lines += _scope_lines(layer.name, shown)
        shown.add(layer.name)
        name = "  " * layer.name.count("/") + layer.name.rpartition("/")[2]
        times = f" ×{layer.calls}" if layer.calls > 1 else ""
        lines.append(_line(name + times, layer.kind, output_of(layer), short_count(layer.parameters)))
    lines += [_value_line(value) for value in (*description.predictions, *description.labels)]
    lines += ["─" * WIDTH, _total(description)]
    told = [f"The path of a layer is layers/ and its name: {layer.path}" for layer in description.layers]
    if told:
        whole = (text for text in told if len(text) <= WIDTH)  # so that it can be copied
        lines.append(next(whole, _fit(told[0], WIDTH)))
    return "\n".join(visible(line.rstrip()) for line in lines)


def as_html(description: Description) -> str:
    """The model as an HTML table, for a notebook."""
    head = "".join(f'<th style="{_LEFT}">{word}</th>' for word in ("path", "kind", "output", "parameters"))
    rows = [_html_row(value.path, value.kind, shape_of(value), "") for value in description.features]
    for layer in in_tree_order(description.layers):
        weights = ", ".join(f"{weight.attribute} {list(weight.shape)}" for weight in layer.weights)
        count = f'<span title="{html.escape(visible(weights))}">{layer.parameters:,}</span>' if layer.parameters else ""
        rows.append(_html_row(layer.path, layer.kind, output_of(layer), count))
    outcome = (*description.predictions, *description.labels)
    rows += [_html_row(value.path, value.kind, shape_of(value), "") for value in outcome]
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<div>{table}<p>{html.escape(_total(description))}</p></div>"


def in_tree_order(layers: Sequence[LayerInfo]) -> Iterator[LayerInfo]:
    """Layers in the order of their calls, but each before those inside it: a call ends after the calls it makes."""
    by_name = {layer.name: layer for layer in layers}
    given: set[str] = set()
    for layer in layers:
        parts = layer.name.split("/")
        for depth in range(1, len(parts) + 1):
            name = "/".join(parts[:depth])
            if name in by_name and name not in given:
                given.add(name)
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


def _html_row(path: str, kind: str, shape: str, parameters: str) -> str:
    depth = max(path.count("/") - 1, 0)
    first = f'<td style="{_LEFT};padding-left:{depth}em"><code>{html.escape(visible(path))}</code></td>'
    rest = [f'<td style="{_LEFT}">{cell}</td>' for cell in (html.escape(visible(kind)), html.escape(shape), parameters)]
    return f"<tr>{first}{''.join(rest)}</tr>"


def _scope_lines(name: str, shown: set[str]) -> list[str]:
    """A line for each enclosing scope that was not shown yet, as a layer or as a scope."""
    lines = []
    parts = name.split("/")[:-1]
    for depth, part in enumerate(parts):
        scope = "/".join(parts[: depth + 1])
        if scope not in shown:
            lines.append(_line("  " * depth + part + "/", "", "", ""))
            shown.add(scope)
    return lines


def _value_line(value: ValueInfo) -> str:
    return _line(value.path, value.kind, shape_of(value), "")


def _line(*cells: str) -> str:
    parts = [_fit(cell, width) for cell, width in zip(cells[:3], _WIDTHS, strict=False)]
    return f"{parts[0]} {parts[1]} {parts[2]} {cells[3]:>{_WIDTHS[3]}}"


def _fit(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"
