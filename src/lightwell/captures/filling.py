"""The shard that is being filled: takes batches, gives the content of an Arrow file.

What has fixed sizes is copied, batch by batch, into one array for each column, which serves shard after shard. So a
shard is put together while the model computes, and memory stays what it was with the first one. All else waits as
arrays of Arrow, and is joined when the shard is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lightwell.captures.batch import Batch
from lightwell.captures.kinds import Array, Kind, column_type, to_arrow
from lightwell.captures.manifest import Manifest
from lightwell.errors import CaptureError

ROW = "row"
_ROWS = Kind(ROW, "int64", ())


class Filling:
    """A shard, and after it the next one.

    Args:
        manifest: of the capture.
        text: whether strings may be kept as text.
        shard_bytes: how big a shard is to be.

    Attributes:
        text: the columns that are kept as text.
        first_batch: the number of its first batch.
        first_row: the number of the first example in that.
        rows: how many rows are in it.
        batches: how many batches are in it.
        examples: how many examples these have.
        bytes: how big it is.
    """

    def __init__(self, manifest: Manifest, text: bool, shard_bytes: int) -> None:
        self._kinds = manifest.kinds
        self._shard_bytes = shard_bytes
        self._fixed: dict[str, Array] = {}
        self._is_settled = bool(manifest.shards) or not text  # what is text, and what bytes
        self.text = manifest.text
        self.empty()

    def empty(self) -> None:
        """Starts the next one."""
        self._chunks: dict[str, list[Any]] = {kind.path: [] for kind in self._kinds}
        self.first_batch = self.first_row = 0
        self.rows = self.batches = self.examples = self.bytes = 0

    def take(self, batch: Batch) -> None:
        """Adds a batch."""
        if not self.batches:
            self.first_batch, self.first_row = batch.number, batch.first_row
        batch = batch.wanted()
        numbers = batch.rows
        for kind in self._kinds:
            if _is_copied(kind):
                self.bytes += self._copied(kind, np.asarray(batch.values[kind.path]), batch)
                continue
            self._chunks[kind.path].append(self._made(kind, batch))
            self.bytes += self._chunks[kind.path][-1].nbytes
        self.bytes += self._copied(_ROWS, numbers, batch)
        self._is_settled = True
        self.rows += len(numbers)
        self.batches += 1
        self.examples += batch.examples

    def write(self, sink: Any) -> None:
        """Writes it as an Arrow file of one record batch."""
        import pyarrow as pa

        columns, fields = [], []
        for kind in (_ROWS, *self._kinds):
            whole = self._whole(kind)
            kept_as = column_type(kind, whole.type)
            columns.append(whole if kept_as == whole.type else pa.ExtensionArray.from_storage(kept_as, whole))
            fields.append(pa.field(kind.path, kept_as, nullable=False))
        schema = pa.schema(fields)
        with pa.ipc.new_file(pa.PythonFile(sink, "w"), schema) as file:
            file.write_batch(pa.record_batch(columns, schema=schema))

    def _whole(self, kind: Kind) -> Any:
        import pyarrow as pa

        if kind is _ROWS or _is_copied(kind):
            return to_arrow(kind, self._fixed[kind.path][: self.rows], text=False)
        chunks = self._chunks.pop(kind.path)
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)

    def _copied(self, kind: Kind, value: Array, batch: Batch) -> int:
        """Puts the rows of a batch behind those that are there; gives their size."""
        end = self.rows + len(value)
        held = self._fixed.get(kind.path)
        if held is None or len(held) < end:
            held = self._fixed[kind.path] = self._bigger(kind, held, end, batch)
        held[self.rows : end] = value
        return len(value) * held[:1].nbytes

    def _bigger(self, kind: Kind, held: Array | None, end: int, batch: Batch) -> Array:
        """Room for a whole shard, as far as the first batch can tell; what is never written to takes no memory."""
        expected = int(self._shard_bytes / max(batch.bytes / max(batch.examples, 1), 1)) + 2 * batch.examples
        made = np.empty((max(end, expected if held is None else 2 * len(held)), *kind.sizes), kind.kept_dtype)
        if held is not None:
            made[: self.rows] = held[: self.rows]
        return made

    def _made(self, kind: Kind, batch: Batch) -> Any:
        import pyarrow as pa

        value = batch.values[kind.path]
        if kind.dtype != "string":
            return to_arrow(kind, value, text=False)
        try:
            as_text = kind.path in self.text or not self._is_settled
            made = to_arrow(kind, value, as_text)
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
        return made


def _is_copied(kind: Kind) -> bool:
    """Whether a row of it is so many bytes of an array, the same in Arrow as here."""
    return kind.is_fixed and kind.dtype not in ("string", "bool") and 0 not in kind.sizes
