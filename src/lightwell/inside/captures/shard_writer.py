"""The shard that is being filled: takes batches, writes an Arrow file, one record batch after the other.

Each record batch is a piece of so many bytes, and is on its way to the disk while the model computes the next. What has
fixed sizes is copied into one array for each column, which serves piece after piece: memory stays what it was with the
first one. All else waits as arrays of Arrow, and is joined when its piece is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lightwell.errors import CaptureError
from lightwell.inside.captures.batches import Batches
from lightwell.inside.captures.folder import FileBeingWritten
from lightwell.inside.captures.kinds import Array, Kind, column_type, to_arrow
from lightwell.inside.captures.manifest import Manifest
from lightwell.run.inputs.arrays import aligned

ROW = "row"
_ROWS = Kind(ROW, "int64", ())
_PIECE = 2**23  # bytes; what is smaller is read more slowly, what is larger waits longer at the end of a capture


class ShardWriter:
    """A shard, and after it the next one.

    Pieces end with a batch, at the first one that makes them big enough: so the same rows give the same file.

    Args:
        manifest: of the capture.
        text: whether strings may be stored as text.
        shard_bytes: how big a shard is to be.
        begin: opens the file of a shard, of which the first batch is known.

    Attributes:
        text: the columns that are stored as text.
        first_batch: the number of its first batch.
        first_row: the number of the first example in that.
        rows: how many rows are in it.
        batches: how many batches are in it.
        examples: how many examples these have.
        bytes: how big it is.
    """

    def __init__(self, manifest: Manifest, text: bool, shard_bytes: int, begin: Callable[[], FileBeingWritten]) -> None:
        self._kinds = manifest.kinds
        self._shard_bytes, self._piece_bytes = shard_bytes, min(shard_bytes, _PIECE)
        self._begin = begin
        self._fixed: dict[str, Array] = {}
        self._is_even = all(map(_is_copied, self._kinds))
        self._row_bytes = sum(_row_bytes(kind) for kind in (*self._kinds, _ROWS) if _is_copied(kind))
        self._is_settled = bool(manifest.shards) or not text  # what is text, and what bytes
        self._file: Any = None  # a `FileBeingWritten`, once there is a piece in it
        self._arrow: Any = None
        self.text = manifest.text
        self.empty()

    @property
    def is_full(self) -> bool:
        """Whether it is as big as it is to be."""
        return self.bytes >= self._shard_bytes

    @property
    def written(self) -> int:
        """How much of it is in its file by now."""
        return 0 if self._file is None else int(self._file.size)

    def empty(self) -> None:
        """Starts the next one."""
        self.first_batch = self.first_row = 0
        self.rows = self.batches = self.examples = self.bytes = 0
        self._start_piece()

    def take(self, batches: Batches) -> Batches | None:
        """Adds batches, no more than fill a piece; gives the others."""
        count = self._fitting(batches)
        self._add(batches.part(0, count))
        if self._bytes_waiting >= self._piece_bytes or self.is_full:
            self._write_piece()
        return batches.part(count, len(batches)) if count < len(batches) else None

    def finish(self) -> tuple[int, str]:
        """Writes the rest of it; gives the size of the file, and its checksum."""
        if self._rows_waiting or self._file is None:
            self._write_piece()
        self._arrow.close()
        size_and_checksum: tuple[int, str] = self._file.finish()
        self._file = self._arrow = None
        return size_and_checksum

    def drop(self) -> None:
        """Removes what there is of it."""
        if self._file is not None:
            self._file.drop()
            self._file = self._arrow = None

    def _start_piece(self) -> None:
        self._chunks: dict[str, list[Any]] = {kind.path: [] for kind in self._kinds}
        self._rows_waiting = self._bytes_waiting = 0

    def _fitting(self, batches: Batches) -> int:
        """How many batches fill the piece, or the shard; where they differ in size, one by one."""
        if not self._is_even:
            return 1
        left = min(self._piece_bytes - self._bytes_waiting, self._shard_bytes - self.bytes)
        sizes = np.cumsum(batches.rows_of_each) * self._row_bytes
        return min(int(np.searchsorted(sizes, left)) + 1, len(batches))

    def _add(self, batches: Batches) -> None:
        if not self.batches:
            self.first_batch, self.first_row = batches.number, batches.first_row
        numbers, values = batches.rows, batches.selected_values()
        size = len(numbers) * self._row_bytes
        for kind in self._kinds:
            if _is_copied(kind):
                self._copy(kind, np.asarray(values[kind.path]))
                continue
            self._chunks[kind.path].append(self._encoded(kind, values[kind.path], batches))
            size += self._chunks[kind.path][-1].nbytes
        self._copy(_ROWS, numbers)
        self._is_settled = True
        self._rows_waiting += len(numbers)
        self._bytes_waiting += size
        self.rows += len(numbers)
        self.bytes += size
        self.batches += len(batches)
        self.examples += batches.examples

    def _write_piece(self) -> None:
        import pyarrow as pa

        columns, fields = [], []
        for kind in (_ROWS, *self._kinds):
            whole = self._whole(kind)
            kept_as = column_type(kind, whole.type)
            columns.append(whole if kept_as == whole.type else pa.ExtensionArray.from_storage(kept_as, whole))
            fields.append(pa.field(kind.path, kept_as, nullable=False))
        schema = pa.schema(fields)
        if self._file is None:
            self._file = self._begin()
            self._arrow = pa.ipc.new_file(pa.PythonFile(self._file, "w"), schema)
        self._arrow.write_batch(pa.record_batch(columns, schema=schema))
        self._start_piece()

    def _whole(self, kind: Kind) -> Any:
        import pyarrow as pa

        if _is_copied(kind):
            return to_arrow(kind, self._fixed[kind.path][: self._rows_waiting], text=False)
        chunks = self._chunks.pop(kind.path)
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)

    def _copy(self, kind: Kind, value: Array) -> None:
        """Puts the rows of batches behind those that are there."""
        end = self._rows_waiting + len(value)
        buffer = self._fixed.get(kind.path)
        if buffer is None or len(buffer) < end:
            buffer = self._fixed[kind.path] = self._bigger(kind, buffer, end)
        buffer[self._rows_waiting : end] = value

    def _bigger(self, kind: Kind, buffer: Array | None, end: int) -> Array:
        """Room for a whole piece, as far as one can tell; what is never written to takes no memory."""
        expected = end + self._piece_bytes // self._row_bytes
        bigger = aligned((expected if buffer is None else 2 * end, *kind.sizes), kind.stored_dtype)
        if buffer is not None:
            bigger[: self._rows_waiting] = buffer[: self._rows_waiting]
        return bigger

    def _encoded(self, kind: Kind, value: Any, batch: Batches) -> Any:
        import pyarrow as pa

        if kind.dtype != "string":
            return to_arrow(kind, value, text=False)
        try:
            as_text = kind.path in self.text or not self._is_settled
            column = to_arrow(kind, value, as_text)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            if self._is_settled:
                raise CaptureError(
                    f"capture: {kind.path!r} holds bytes that are not UTF-8 in batch {batch.number}, at or after row "
                    f"{batch.first_row}, and the first batch was text. Capture anew, and take it as bytes: "
                    "capture(..., text=False, overwrite=True)."
                ) from error
            return to_arrow(kind, value, text=False)
        if as_text and kind.path not in self.text:
            self.text = (*self.text, kind.path)
        return column


def _is_copied(kind: Kind) -> bool:
    """Whether a row of it is so many bytes of an array, the same in Arrow as here."""
    return kind.is_fixed and kind.dtype not in ("string", "bool") and 0 not in kind.sizes


def _row_bytes(kind: Kind) -> int:
    return int(np.prod(kind.sizes, dtype=np.int64)) * kind.stored_dtype.itemsize
