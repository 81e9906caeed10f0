"""A capture rendered as a table of its columns, in text and HTML, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lightwell.base.printable import printable_lines
from lightwell.base.tables import WIDTH, Table
from lightwell.inside.captures.kinds import Kind
from lightwell.inside.captures.manifest import Manifest
from lightwell.inside.captures.sizes import in_words
from lightwell.inside.paths.show import shape_text

if TYPE_CHECKING:
    from lightwell.inside.captures.store import Capture

_HEAD = ("path", "type", "each example", "")


def as_text(store: Capture, manifest: Manifest) -> str:
    """The capture as a table."""
    head, rule, lines = Table(_HEAD, _rows(manifest)).ruled_lines(WIDTH)
    return printable_lines("\n".join([_title(store, manifest), "", head, rule, *lines, rule, _foot(manifest)]))


def as_html(store: Capture, manifest: Manifest) -> str:
    """The capture as an HTML table."""
    return Table(_HEAD, _rows(manifest), title=_title(store, manifest), note=_foot(manifest)).html()


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


def _title(store: Capture, manifest: Manifest) -> str:
    what = "statistics, no rows" if manifest.statistics else f"{manifest.rows:,} rows"
    return f"{store.path}: {what}, of {manifest.checkpoint or 'initial weights'}"


def _foot(manifest: Manifest) -> str:
    if manifest.statistics:
        return f"Rows are not kept: {manifest.ended_early}"
    size = sum(shard.bytes for shard in manifest.shards)
    parts = [f"{in_words(size)} in {len(manifest.shards)} file{'' if len(manifest.shards) == 1 else 's'}"]
    parts += [f"one example of {manifest.every}"] if manifest.every > 1 else []
    parts += [f"the first examples only: {manifest.ended_early}"] if manifest.ended_early and manifest.rows else []
    parts += [] if manifest.is_complete else ["not complete: call capture again to go on"]
    return "; ".join(parts)


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
