"""A description made visible: a table of 80 columns, and HTML for a notebook. Takes plain data, gives text."""

from __future__ import annotations

import html
from collections.abc import Sequence

from lightwell.sight.describe import Description, LayerInfo, ValueInfo

_WIDTHS = (34, 20, 14, 9)  # layer, kind, output, parameters: with the gaps, 80 columns


def as_text(description: Description) -> str:
    """The model as a table of layers, at most 80 columns wide."""
    lines = [_line("layer", "kind", "output", "params"), "─" * 80]
    lines += [_value_line(value) for value in description.features]
    shown: set[str] = set()
    for layer in description.layers:
        lines += _scope_lines(layer.name, shown, {one.name for one in description.layers})
        depth = layer.name.count("/")
        name = "  " * depth + layer.name.rpartition("/")[2] + (f" ×{layer.calls}" if layer.calls > 1 else "")
        lines.append(_line(name, layer.kind, _output(layer), f"{layer.parameters:,}" if layer.parameters else ""))
    lines += [_value_line(value) for value in description.predictions]
    lines.append("─" * 80)
    fixed = description.parameters - description.trainable_parameters
    lines.append(
        f"{description.parameters:,} parameters"
        + (f", {fixed:,} of them not trained" if fixed else "")
        + (f"; {len(description.slots)} variables of optimizer state" if description.slots else "")
    )
    if description.layers:
        example = description.layers[0].name
        lines.append(f"A row's path is layers/<name>, as layers/{example}; weights are weights/<name>/...")
    return "\n".join(lines)


def as_html(description: Description) -> str:
    """The model as an HTML table, for a notebook."""
    head = "".join(f"<th style='text-align:left'>{word}</th>" for word in ("path", "kind", "output", "parameters"))
    rows = [_html_row(value.path, value.dtype, _shape(value), "") for value in description.features]
    for layer in description.layers:
        weights = ", ".join(f"{w.attribute} {list(w.shape)}" for w in layer.weights)
        count = f"<span title='{html.escape(weights)}'>{layer.parameters:,}</span>" if layer.parameters else ""
        rows.append(_html_row(layer.path, layer.kind, _output(layer), count))
    rows += [_html_row(value.path, value.dtype, _shape(value), "") for value in description.predictions]
    total = f"{description.parameters:,} parameters, {description.trainable_parameters:,} of them trained"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table><p>{total}</p>"


def _html_row(path: str, kind: str, shape: str, parameters: str) -> str:
    depth = max(path.count("/") - 1, 0)
    cells = (f"<code>{html.escape(path)}</code>", html.escape(kind), html.escape(shape), parameters)
    first = f"<td style='text-align:left;padding-left:{depth}em'>{cells[0]}</td>"
    return f"<tr>{first}{''.join(f'<td style=text-align:left>{cell}</td>' for cell in cells[1:])}</tr>"


def _scope_lines(name: str, shown: set[str], layers: set[str]) -> list[str]:
    """A line for each enclosing scope that is no layer itself, the first time it is met."""
    lines = []
    parts = name.split("/")[:-1]
    for depth in range(len(parts)):
        scope = "/".join(parts[: depth + 1])
        if scope not in shown and scope not in layers:
            lines.append(_line("  " * depth + parts[depth] + "/", "", "", ""))
        shown.add(scope)
    return lines


def _value_line(value: ValueInfo) -> str:
    return _line(value.path, value.dtype, _shape(value), "")


def _output(layer: LayerInfo) -> str:
    if not layer.outputs:
        return ""
    more = f" +{len(layer.outputs) - 1}" if len(layer.outputs) > layer.calls else ""
    return _shape(layer.outputs[0]) + more


def _shape(value: ValueInfo) -> str:
    if value.shape is None:
        return "unknown"
    return "×".join("?" if size is None else str(size) for size in value.shape) or "scalar"


def _line(*cells: str) -> str:
    parts = [_fit(cell, width) for cell, width in zip(cells[:3], _WIDTHS, strict=False)]
    return f"{parts[0]} {parts[1]} {parts[2]} {cells[3]:>{_WIDTHS[3]}}".rstrip()


def _fit(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else text[: width - 1] + "…"


def columns(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows as lines whose columns line up; those in `right` are aligned to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
