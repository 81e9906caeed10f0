"""The shards of a capture, mapped into memory; of each, the checksum is compared before a number of it is handed out.

Only the heads of record batches are read when a shard is opened. What is in them is checked once in a process for each
file, when somebody first looks at it: a capture may be larger than anybody wants to read for ten rows of it.
"""

from __future__ import annotations

import mmap
import os
import threading
from collections.abc import Sequence
from typing import Any

from lightwell.errors import CaptureError
from lightwell.inside.captures.checksums import is_checksum_of, is_verified, mark_verified
from lightwell.inside.captures.folder import Folder
from lightwell.inside.captures.kinds import Kind, is_of_kind
from lightwell.inside.captures.manifest import NAME, Shard

_MAGIC = 8  # bytes, by which a file of Arrow begins, and then the stream


class MappedShard:
    """One file of rows.

    Args:
        folder: where it is.
        shard: what the manifest tells of it.
        paths: the columns that it should have.

    Attributes:
        batches: its record batches, over mapped memory; not to be looked into before `check`.

    Raises:
        CaptureError: it is gone, cut short or no file of Arrow, or has other rows or columns than the manifest
            tells of.
    """

    def __init__(self, folder: Folder, shard: Shard, paths: Sequence[str]) -> None:
        import pyarrow as pa

        self._path, self._shard = folder.file(shard.file), shard
        self._lock = threading.Lock()
        try:
            with open(self._path, "rb") as file:
                self._state = os.fstat(file.fileno())
                if self._state.st_size != shard.bytes:
                    raise self._unreadable(f"it has {self._state.st_size} bytes, and should have {shard.bytes}")
                self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            # Read as the stream that it is: to look each batch up takes longer.
            self.batches: list[Any] = list(pa.ipc.open_stream(pa.py_buffer(self._mapped).slice(_MAGIC)))
            rows = sum(batch.num_rows for batch in self.batches)
        except CaptureError:
            raise
        except (OSError, ValueError, pa.ArrowException) as error:
            raise self._unreadable(str(error)) from error
        if rows != shard.rows:
            raise self._unreadable(f"it has {rows} rows, and should have {shard.rows}")
        if any(set(batch.schema.names) != {*paths} for batch in self.batches[:1]):
            raise self._unreadable(f"it has not the columns that {NAME} tells of")
        self._is_checked = is_verified(shard.checksum, self._state)

    def check(self) -> None:
        """Compares its checksum, if that has not been done yet.

        Raises:
            CaptureError: it is another.
        """
        if self._is_checked:
            return
        with self._lock:
            if not self._is_checked:
                if not is_checksum_of(self._shard.checksum, self._mapped):
                    raise self._unreadable("its checksum is another, so it is not as it was written")
                mark_verified(self._shard.checksum, self._state)
                self._is_checked = True

    def column(self, place: int, kind: Kind) -> Any:
        """A column of one of its batches.

        Raises:
            CaptureError: it has none of this path, or one of another kind.
        """
        try:
            column = self.batches[place].column(kind.path)
        except KeyError as error:
            raise self._unreadable(f"it has no column {kind.path!a}") from error
        if not is_of_kind(kind, column):
            raise self._unreadable(f"its column {kind.path!a} is not of the type and sizes that {NAME} tells of")
        return column

    def _unreadable(self, why: str) -> CaptureError:
        return CaptureError(
            f"{self._path} is damaged: {why}. Call capture again with the same arguments: what is damaged is written "
            "again."
        )
