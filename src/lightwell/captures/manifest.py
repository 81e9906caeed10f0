"""`capture.json`: what a capture is of, and its shards. Takes and gives plain data; knows of no folder.

It says nothing of time, machine or process: a capture that was broken off and gone on with is the same as an unbroken
one, file for file.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

from lightwell.captures.checksums import told_crc32
from lightwell.captures.kinds import Kind, kind_from
from lightwell.errors import CaptureError

NAME = "capture.json"
FORMAT = 3  # 1 had one record batch in a file; 1 and 2 had other checksums, of files and of the arrays of an input


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
        every: 1, or that only each so many-th example is kept.
        most_examples: where nobody could tell how long the input is, after how many examples the budget is used up.
        text: the columns of strings that are kept as text; decided by the first batch, for each column of strings.
        shards: the files, in the order of their rows.
        is_complete: whether all of the input is in it.
        ended_early: why not all examples are in it, though it is complete; empty where they are.
        statistics: whether it has statistics in place of rows.
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
        return json.dumps(data, indent=1) + "\n"


def manifest_from(text: str, where: str) -> Manifest:
    """What `to_json` wrote.

    Raises:
        CaptureError: it is damaged, or of a later format.
    """
    try:
        data: dict[str, Any] = json.loads(text)
        if data["format"] > FORMAT:
            raise CaptureError(f"{where} was written by a later Lightwell (format {data['format']}). Use that one.")
        if data.pop("format") < 3:
            data["identity"]["arrays"] = ""
            data["shards"] = [{"checksum": told_crc32(one.pop("crc32")), **one} for one in data["shards"]]
        data["kinds"] = tuple(kind_from(one) for one in data["kinds"])
        data["shards"] = tuple(Shard(**one) for one in data["shards"])
        data["text"] = tuple(data["text"])
        return Manifest(**data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CaptureError(f"{where} is damaged ({error}). Capture anew: capture(..., overwrite=True).") from error
