"""`Lineage`: the origins of a model's checkpoints, as data, as a table, and in a notebook."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, overload

import tensorflow as tf

from lightwell.base.printable import printable
from lightwell.base.tables import Table
from lightwell.errors import CheckpointUnreadable, UsageError
from lightwell.run.checkpoints.entries import content_hash
from lightwell.run.checkpoints.index import newest_complete, newest_first, step_of
from lightwell.run.checkpoints.lineage import EDIT, TRAINING, Origin, origins

_MOST_EDITS = 8
_HEAD = ("checkpoint", "parent", "when", "hash", "how")
_BY = {EDIT: "edited", TRAINING: "trained", "": "by another program"}


class Lineage(Sequence[Origin]):
    """The checkpoints of a model, the oldest first, each with its parent, its edits, its time, and a hash.

    Attributes:
        directory: the `model_dir`.
        newest: the name of the checkpoint that the model goes on from.
    """

    def __init__(self, directory: str, rows: Sequence[Origin], newest: str | None) -> None:
        self.directory = directory
        self.newest = newest
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, place: int) -> Origin: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Origin]: ...
    def __getitem__(self, place: int | slice) -> Origin | Sequence[Origin]:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"directory": self.directory, "newest": self.newest, "checkpoints": [row.to_dict() for row in self]}

    def __repr__(self) -> str:
        if not self:
            return printable(f"{self.directory} has no checkpoints.")
        head, rule, rows = Table(_HEAD, (self._cells(row, _how(row)) for row in self)).ruled_lines()
        lines = [head, rule]
        for row, line in zip(self, rows, strict=True):
            lines += [line, *(f"    {printable(edit)}" for edit in _edits(row))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return Table(_HEAD, (self._cells(row, "\n".join((_how(row), *_edits(row)))) for row in self)).html()

    def _cells(self, row: Origin, how: str) -> tuple[str, ...]:
        return (_marked(row, self.newest), row.parent or "", _when(row), row.hash, how)


def read_lineage(directory: str) -> Lineage:
    """The lineage of the checkpoints that a directory has.

    Raises:
        UsageError: it is no directory.
    """
    if not tf.io.gfile.isdir(directory):
        raise UsageError(f"lineage: {directory} is no directory; expected a model_dir.")
    known = origins(directory)
    rows = [row for prefix in newest_first(directory) if (row := _row(prefix, known)) is not None]
    newest = newest_complete(directory)
    rows.sort(key=lambda row: (row.step or 0, row.when))
    return Lineage(directory, rows, None if newest is None else os.path.basename(newest))


def _row(prefix: str, known: dict[str, Origin]) -> Origin | None:
    """What is known of a checkpoint; one that was written over since is of an origin that is not."""
    name = os.path.basename(prefix)
    try:
        now = content_hash(prefix)
    except CheckpointUnreadable:
        return None
    if name in known and known[name].hash == now:
        return known[name]
    file = f"{prefix}.index" if tf.io.gfile.exists(f"{prefix}.index") else prefix
    return Origin(name, step_of(name), None, now, tf.io.gfile.stat(file).mtime_nsec / 1e9)


def _edits(row: Origin) -> list[str]:
    more = len(row.edits) - _MOST_EDITS
    return [*map(str, row.edits[:_MOST_EDITS]), *([f"… and {more} more"] if more > 0 else [])]


def _marked(row: Origin, newest: str | None) -> str:
    return f"{'*' if row.checkpoint == newest else ' '} {row.checkpoint}"


def _when(row: Origin) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.when))


def _how(row: Origin) -> str:
    how = _BY.get(row.by, row.by)
    if row.by == TRAINING and row.edits:
        how = "trained, and edited under way"
    return f"{how}: {row.note}" if row.note else how
