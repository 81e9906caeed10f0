"""A capture made visible: a table of its columns, as text and as HTML, and as plain data."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.captures.kinds import Kind
from lightwell.captures.manifest import Manifest
from lightwell.captures.sizes import in_words
from lightwell.sight.over_data import UnitStats
from lightwell.sight.show import WIDTH, columns, shape_text

if TYPE_CHECKING:
    from lightwell.captures.store import Capture

_MOST_UNITS = 8


def as_text(store: Capture, manifest: Manifest) -> str:
    """The capture as a table."""
    head, *lines = columns([("path", "type", "each example", ""), *_rows(manifest)]).splitlines()
    return "\n".join([_title(store, manifest), "", head, "─" * WIDTH, *lines, "─" * WIDTH, _foot(manifest)])


def as_html(store: Capture, manifest: Manifest) -> str:
    """The capture as an HTML table."""
    head = "".join(f'<th style="text-align:left">{word}</th>' for word in ("path", "type", "each example", ""))
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row) + "</tr>"
        for row in _rows(manifest)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><p>{html.escape(_title(store, manifest))}</p>{table}<p>{html.escape(_foot(manifest))}</p></div>"


def as_dict(store: Capture, manifest: Manifest) -> dict[str, Any]:
    """The capture as plain data."""
    return {
        "path": store.path,
        "rows": manifest.rows,
        "bytes": sum(shard.bytes for shard in manifest.shards),
        "shards": [shard.file for shard in manifest.shards],
        "columns": [kind.to_dict() for kind in manifest.kinds],
        "key": manifest.key,
        "checkpoint": manifest.checkpoint,
        "global_step": manifest.global_step,
        "complete": manifest.is_complete,
        "every": manifest.every,
        "statistics": manifest.statistics,
        "ended_early": manifest.ended_early,
        "identity": dict(manifest.identity),
    }


def shown_statistics(path: str, found: UnitStats) -> str:
    """Statistics of a path: over all units, and of the units that are most and least active."""
    mean, std, zeros = (np.asarray(part, np.float64).reshape(-1) for part in (found.mean, found.std, found.zeros))
    order = np.argsort(-mean, kind="stable")
    places = order if len(order) <= 2 * _MOST_UNITS else [*order[:_MOST_UNITS], *order[-_MOST_UNITS:]]
    rows = [("unit", "mean", "std", "zeros")]
    for place in places:
        unit = ", ".join(map(str, np.unravel_index(int(place), np.shape(found.mean)))) if np.shape(found.mean) else ""
        rows.append((unit, f"{mean[place]:.4g}", f"{std[place]:.4g}", f"{zeros[place]:.1%}"))
    dead = int((zeros == 1).sum())
    head = f"{path}: {len(mean):,} units over {found.count:,} examples, {dead} of them dead"
    return f"{head}\n\n{columns(rows, right=range(1, 4))}"


def _title(store: Capture, manifest: Manifest) -> str:
    what = "statistics, no rows" if manifest.statistics else f"{manifest.rows:,} rows"
    return f"{store.path}: {what}, of {manifest.checkpoint or 'initial weights'}"


def _foot(manifest: Manifest) -> str:
    if manifest.statistics:
        return f"Rows are not kept: {manifest.ended_early}"
    size = sum(shard.bytes for shard in manifest.shards)
    told = [f"{in_words(size)} in {len(manifest.shards)} file{'' if len(manifest.shards) == 1 else 's'}"]
    told += [f"one example of {manifest.every}"] if manifest.every > 1 else []
    told += [f"the first examples only: {manifest.ended_early}"] if manifest.ended_early and manifest.rows else []
    told += [] if manifest.is_complete else ["not complete: call capture again to go on"]
    return "; ".join(told)


def _rows(manifest: Manifest) -> list[tuple[str, str, str, str]]:
    return [
        (
            kind.path,
            kind.dtype if kind.form == "dense" else f"{kind.form} {kind.dtype}",
            _sizes(kind),
            _role(kind, manifest),
        )
        for kind in manifest.kinds
    ]


def _sizes(kind: Kind) -> str:
    return "?" if kind.shape is None else shape_text(kind.shape)


def _role(kind: Kind, manifest: Manifest) -> str:
    return "key" if kind.path == manifest.key else ""
