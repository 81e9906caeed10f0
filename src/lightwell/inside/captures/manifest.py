"""`capture.json`: what a capture is of, and its shards. Takes and gives plain data; knows of no folder.

It says nothing of time, machine or process: a capture that was broken off and gone on with is the same as an unbroken
one, file for file. It has a checksum of itself: whoever changes a type or a shape in it would change numbers.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from dataclasses import dataclass
from typing import Any

from lightwell.base import checked_json as checked
from lightwell.errors import CaptureError
from lightwell.inside.captures.checksums import checksum_text, new_checksum
from lightwell.inside.captures.kinds import Kind, kind_from

NAME = "capture.json"
FORMAT = 4
SHARD_FILE = re.compile(r"shard-\d{5,}\.arrow")
_CHECKSUM = re.compile(r"[a-z0-9]+:[0-9a-f]+")


@dataclass(frozen=True)
class Shard:
    """A file of rows.

    Attributes:
        file: its name.
        rows: how many rows it has.
        first_batch: the first batch of the input that is in it, from 0.
        batches: how many batches of the input are in it.
        first_row: the number of the first example of its first batch, from 0.
        examples: how many examples its batches have; more than rows where the capture is a sample.
        bytes: its size.
        checksum: of its content, with its kind.
    """

    file: str
    rows: int
    first_batch: int
    batches: int
    first_row: int
    examples: int
    bytes: int
    checksum: str

    @property
    def end_batch(self) -> int:
        """The first batch behind it."""
        return self.first_batch + self.batches


@dataclass(frozen=True)
class Manifest:
    """All that is known of a capture.

    Attributes:
        identity: digests of what it is of, by word: checkpoint, program, input, its arrays (empty where that is not
            known, or not yet); and the settings that shape its files.
        checkpoint: the name of the checkpoint.
        global_step: its step, if its name tells.
        kinds: what the columns hold.
        key: the column that identifies an example.
        every: the stride of the sample: 1 for all examples.
        most_examples: where nobody could tell how long the input is, after how many examples the budget is used up.
        text: the columns of strings that are stored as text; decided by the first batch, for each column of strings.
        shards: the files, in the order of their rows.
        is_complete: whether all of the input is in it.
        ended_early: why not all examples are in it, though it is complete; empty where they are.
        statistics: whether it has statistics in place of rows.
        statistics_checksum: the checksum of their file; empty where there is none.
    """

    identity: dict[str, str]
    checkpoint: str
    global_step: int | None
    kinds: tuple[Kind, ...]
    key: str | None = None
    every: int = 1
    most_examples: int | None = None
    text: tuple[str, ...] = ()
    shards: tuple[Shard, ...] = ()
    is_complete: bool = False
    ended_early: str = ""
    statistics: bool = False
    statistics_checksum: str = ""

    @property
    def rows(self) -> int:
        """How many rows there are in all shards."""
        return sum(shard.rows for shard in self.shards)

    def kind(self, path: str) -> Kind:
        """What a column holds."""
        return next(kind for kind in self.kinds if kind.path == path)

    def to_json(self) -> str:
        """As text."""
        data = {"format": FORMAT, **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)}}
        data["kinds"] = [kind.to_dict() for kind in self.kinds]
        data["shards"] = [dataclasses.asdict(shard) for shard in self.shards]
        return json.dumps({**data, "checksum": _checksum_of(data)}, indent=1) + "\n"


def manifest_from(content: bytes, where: str) -> Manifest:
    """What `to_json` wrote.

    Raises:
        CaptureError: it is damaged, or of another format.
    """
    try:
        data = checked.parse(content)
        form = checked.field(data, "format", checked.number)
        if form == FORMAT:
            return _manifest(data)
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{where} is damaged ({error}). Capture anew: capture(..., overwrite=True).") from error
    if form > FORMAT:
        raise CaptureError(f"{where} was written by a later Lightwell (format {form}). Use that one.")
    raise CaptureError(
        f"{where} has the format {form}, and this Lightwell reads the format {FORMAT} alone. Capture again: "
        "capture(..., overwrite=True)."
    )


def _manifest(data: dict[str, Any]) -> Manifest:
    checksum = checked.field(data, "checksum", checked.text)
    data = {name: part for name, part in data.items() if name != "checksum"}
    if _checksum_of(data) != checksum:
        raise ValueError("its checksum is another: it was changed by something else than capture")
    checked.check_names(data, {"format", *(one.name for one in dataclasses.fields(Manifest))})
    manifest = Manifest(
        checked.field(data, "identity", checked.by_name(checked.text)),
        checked.field(data, "checkpoint", checked.text),
        checked.field(data, "global_step", checked.or_none(checked.number)),
        checked.field(data, "kinds", checked.all_of(kind_from)),
        checked.field(data, "key", checked.or_none(checked.text)),
        checked.field(data, "every", checked.number),
        checked.field(data, "most_examples", checked.or_none(checked.number)),
        checked.field(data, "text", checked.all_of(checked.text)),
        checked.field(data, "shards", checked.all_of(_shard)),
        checked.field(data, "is_complete", checked.truth),
        checked.field(data, "ended_early", checked.text),
        checked.field(data, "statistics", checked.truth),
        checked.field(data, "statistics_checksum", checked.text),
    )
    _check_consistent(manifest)
    return manifest


def _check_consistent(manifest: Manifest) -> None:
    """Refuses fields that contradict each other."""
    paths = [kind.path for kind in manifest.kinds]
    files = [shard.file for shard in manifest.shards]
    for what, names in (("kinds", paths), ("shards", files)):
        if len(set(names)) < len(names):
            raise ValueError(f"{what}: one is named twice")
    unknown = {*manifest.text, *([] if manifest.key is None else [manifest.key])} - set(paths)
    if unknown:
        raise ValueError(f"{min(unknown)!a:.60} is none of its columns")
    if manifest.every < 1:
        raise ValueError("every: expected a number from 1, got 0")
    if any(one.end_batch > other.first_batch for one, other in itertools.pairwise(manifest.shards)):
        raise ValueError("shards: they are not in the order of their rows")
    ends = [0, *(shard.end_batch for shard in manifest.shards)]
    if manifest.is_complete and any(
        end != shard.first_batch for end, shard in zip(ends, manifest.shards, strict=False)
    ):
        raise ValueError("shards: one is missing, though it should be complete")
    if missing := {"checkpoint", "program", "input", "arrays"} - set(manifest.identity):
        raise ValueError(f"identity: {min(missing)!r} is missing")


def _shard(data: Any) -> Shard:
    checked.check_names(data, [one.name for one in dataclasses.fields(Shard)])
    return Shard(**_numbers(data), file=_file(data), checksum=checked.field(data, "checksum", _checksum))


def _numbers(data: Any) -> dict[str, Any]:
    names = ("rows", "first_batch", "batches", "first_row", "examples", "bytes")
    return {name: checked.field(data, name, checked.number) for name in names}


def _file(data: Any) -> str:
    name = checked.field(data, "file", checked.file_name)
    if not SHARD_FILE.fullmatch(name):
        raise ValueError(f"file: expected the name of a shard, such as 'shard-00000.arrow', got {name!a:.60}")
    return name


def _checksum(data: Any) -> str:
    if not _CHECKSUM.fullmatch(checked.text(data)):
        raise ValueError(f"expected a checksum with its kind, got {data!a:.60}")
    return str(data)


def _checksum_of(data: dict[str, Any]) -> str:
    checksum = new_checksum()
    checksum.update(json.dumps(data, sort_keys=True, separators=(",", ":")).encode())
    return checksum_text(checksum)
