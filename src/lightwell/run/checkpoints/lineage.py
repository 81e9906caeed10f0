"""The lineage of the checkpoints of a `model_dir`: parent, edits, time and hash of each, a line in `lineage.jsonl`.

Owns `Change` (one edit of one value) and `Origin` (one line). Lines are only appended. The last line of a checkpoint
counts; a checkpoint without a line (another program wrote it) has no parent here.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base import checked_json as checked
from lightwell.base.safe_files import append_line
from lightwell.run.checkpoints.entries import content_hash
from lightwell.run.checkpoints.index import step_of

FILE_NAME = "lineage.jsonl"
EDIT, TRAINING, REVERT = "edit", "train", "revert"


@dataclass(frozen=True)
class Change:
    """One edit of one value.

    Attributes:
        path: the value, `weights/dense/kernel` or `slots/dense/kernel/Adam`.
        changed: how many of its numbers changed.
        size: how many numbers it has.
        norm: the norm of the difference; None where it holds no finite numbers.
        how: the kind of edit, in words: "set", "copied from …", "reset", "set at step 50".
    """

    path: str
    changed: int
    size: int
    norm: float | None = None
    how: str = "set"

    def __str__(self) -> str:
        moved = "" if self.norm is None else f", by {self.norm:.3g}"
        return f"{self.path} {self.how}: {self.changed:,} of {self.size:,} numbers{moved}"


@dataclass(frozen=True)
class Origin:
    """Where one checkpoint comes from.

    Attributes:
        checkpoint: its name in the directory, `model.ckpt-100`.
        step: the global step in that name.
        parent: the checkpoint that it derives from; None for a first one, or if unknown.
        hash: of its content, when the line was written.
        when: seconds since 1970.
        by: `"train"`, `"edit"` or `"revert"`; empty where another program wrote it.
        edits: the edits by hand since the parent.
        note: the user's note.
    """

    checkpoint: str
    step: int | None
    parent: str | None
    hash: str
    when: float
    by: str = ""
    edits: tuple[Change, ...] = ()
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return dataclasses.asdict(self)


def merge_changes(edits: Sequence[Change]) -> tuple[Change, ...]:
    """Edits, with those of one value merged: a hook may make thousands."""
    by_path: dict[str, list[Change]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    return tuple(
        changes[0]
        if len(changes) == 1
        else dataclasses.replace(
            changes[-1],
            changed=max(one.changed for one in changes),
            norm=None,
            how=f"{len(changes)} times, last {changes[-1].how}",
        )
        for changes in by_path.values()
    )


def new_origin(prefix: str, parent: str | None, by: str, edits: Sequence[Change] = (), note: str = "") -> Origin:
    """The origin of a checkpoint that has just been written."""
    own_parent = None if parent is None else os.path.basename(parent)
    name = os.path.basename(prefix)
    return Origin(name, step_of(name), own_parent, content_hash(prefix), time.time(), by, merge_changes(edits), note)


def append_origin(directory: str, origin: Origin, *, durable: bool = False) -> None:
    """Appends a line."""
    append_line(os.path.join(directory, FILE_NAME), json.dumps(origin.to_dict()), durable=durable)


def origins(directory: str) -> dict[str, Origin]:
    """By the name of each checkpoint, its last line; lines of reverts are left out."""
    return {one.checkpoint: one for one in history(directory) if one.by != REVERT}


def history(directory: str) -> list[Origin]:
    """All lines, the oldest first. Lines that cannot be parsed, such as one cut short by a crash, are skipped."""
    try:
        with tf.io.gfile.GFile(os.path.join(directory, FILE_NAME), "rb") as file:
            lines = file.read().decode(errors="replace").splitlines()
    except tf.errors.OpError:
        return []
    return [origin for line in lines if (origin := _origin(line)) is not None]


def _origin(line: str) -> Origin | None:
    try:
        data = checked.parse(line)
        return Origin(
            checked.field(data, "checkpoint", checked.file_name),
            checked.field(data, "step", checked.or_none(checked.number)),
            checked.field(data, "parent", checked.or_none(checked.file_name)),
            checked.field(data, "hash", checked.text),
            checked.field(data, "when", _time),
            checked.optional(data, "by", checked.text, ""),
            checked.optional(data, "edits", checked.all_of(_change), ()),
            checked.optional(data, "note", checked.text, ""),
        )
    except ValueError:
        return None


def _change(data: Any) -> Change:
    return Change(
        checked.field(data, "path", checked.text),
        checked.field(data, "changed", checked.number),
        checked.field(data, "size", checked.number),
        checked.optional(data, "norm", checked.or_none(checked.real), None),
        checked.optional(data, "how", checked.text, "set"),
    )


def _time(data: Any) -> float:
    """Seconds since 1970, up to the year 9999, the range of a calendar date."""
    when = checked.real(data)
    if not 0 <= when < 253_402_300_800:
        raise ValueError(f"expected seconds since 1970, got {when:g}")
    return when
