"""The thread that writes a capture: takes batches from a short queue, fills shards, and keeps the manifest.

The model computes the next batches meanwhile; where it is faster than the disk, it waits. In memory there are at most
one shard, twice while it is put together, and the queue. Shards end with a batch, at the first one that makes them as
big as was asked for: so the same rows give the same files.
"""

from __future__ import annotations

import bisect
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lightwell.captures.batch import Batch
from lightwell.captures.folder import Folder, Gap
from lightwell.captures.kinds import Kind, column_type, to_arrow
from lightwell.captures.manifest import Manifest, Shard
from lightwell.errors import CaptureError, LightwellError

ROW = "row"
_MOST_WAITING = 2**25
_STOP = None


class Writer:
    """Writes the rows of one gap.

    Args:
        folder: where to.
        manifest: of the shards that are there.
        gap: which batches are to come.
        shard_bytes: how big a shard is to be.
        text: whether strings may be kept as text.
        settle: completes a manifest before it is first written; may take a while.

    Attributes:
        manifest: of the shards that are there by now.
    """

    def __init__(
        self,
        folder: Folder,
        manifest: Manifest,
        gap: Gap,
        shard_bytes: int,
        text: bool,
        settle: Callable[[Manifest], Manifest],
    ) -> None:
        self.manifest = manifest
        self._folder, self._gap, self._shard_bytes = folder, gap, shard_bytes
        self._text, self._settle = text, settle
        self._shard = _Filling(manifest, text)
        self._queue: deque[Batch | None] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._failure: BaseException | None = None
        self._is_broken_off = False
        self._thread = threading.Thread(target=self._work, name="lightwell-capture", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def close(self, is_whole: bool) -> None:
        """Ends the thread.

        Args:
            is_whole: all batches have come; else what is not yet a whole shard is dropped.

        Raises:
            CaptureError: a shard could not be written.
        """
        with self._changed:
            if not is_whole:
                self._is_broken_off = True
                self._queue.clear()
            self._queue.append(_STOP)
            self._changed.notify_all()
        self._thread.join()
        if is_whole:
            self._raise_failure()

    def put(self, batch: Batch) -> None:
        """Hands a batch over; waits while too much is waiting.

        Raises:
            CaptureError: a shard before could not be written.
        """
        size = batch.bytes
        with self._changed:
            while self._waiting and self._waiting + size > _MOST_WAITING and self._failure is None:
                self._changed.wait()
            self._raise_failure()
            self._waiting += size
            self._queue.append(batch)
            self._changed.notify_all()

    @property
    def written(self) -> int:
        """How many bytes there are in all shards."""
        return sum(shard.bytes for shard in self.manifest.shards)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            self.manifest = self._settle(self.manifest)
            self._folder.write_manifest(self.manifest)
            while (batch := self._next()) is not _STOP:
                self._shard.take(batch)
                if self._shard.bytes >= self._shard_bytes:
                    self._finish_shard()
            if self._shard.batches and not self._is_broken_off:
                self._finish_shard()
        except BaseException as error:
            with self._changed:
                self._failure = error
                self._changed.notify_all()

    def _next(self) -> Batch | None:
        with self._changed:
            while not self._queue:
                self._changed.wait()
            batch = self._queue.popleft()
            self._waiting -= 0 if batch is None else batch.bytes
            self._changed.notify_all()
            return batch

    def _finish_shard(self) -> None:
        filled = self._shard
        places = [shard.first_batch for shard in self.manifest.shards]
        place = bisect.bisect(places, filled.first_batch)
        end = filled.first_batch + filled.batches
        if self._gap.end is not None and end > self._gap.end:
            raise other_rows(self._folder.path, f"the shard at row {filled.first_row} would end elsewhere")
        name = f"shard-{place:05d}.arrow"  # gaps are filled in order: all before it are there
        size, checksum = self._folder.write(name, filled.write)
        shard = Shard(
            name, filled.rows, filled.first_batch, filled.batches, filled.first_row, filled.examples, size, checksum
        )
        shards = [*self.manifest.shards[:place], shard, *self.manifest.shards[place:]]
        self.manifest = replace(self.manifest, shards=tuple(shards), text=filled.text)
        self._folder.write_manifest(self.manifest)
        self._shard = _Filling(self.manifest, self._text)


def other_rows(folder: str, what: str) -> LightwellError:
    """What to raise where the input does not give the rows that a capture has already."""
    return CaptureError(
        f"capture: {folder!r} was begun with other rows than input_fn gives now: {what}. To go on with a capture, the "
        "input must give the same examples in the same order each time: seed its shuffling, or leave that out; read "
        "files in a fixed order. To start over: capture(..., overwrite=True)."
    )


class _Filling:
    """The shard that is being filled."""

    def __init__(self, manifest: Manifest, text: bool) -> None:
        self._kinds: Sequence[Kind] = manifest.kinds
        self._chunks: dict[str, list[Any]] = {kind.path: [] for kind in manifest.kinds}
        self._rows: list[Any] = []
        self._is_settled = bool(manifest.shards) or not text  # what is text, and what bytes
        self.text = manifest.text
        self.first_batch = self.first_row = 0
        self.rows = self.batches = self.examples = self.bytes = 0

    def take(self, batch: Batch) -> None:
        """Adds a batch."""
        if not self.batches:
            self.first_batch, self.first_row = batch.number, batch.first_row
        batch = batch.wanted()
        numbers = batch.rows
        for kind in self._kinds:
            self._chunks[kind.path].append(self._made(kind, batch))
            self.bytes += self._chunks[kind.path][-1].nbytes
        self._is_settled = True
        self._rows.append(numbers)
        self.rows += len(numbers)
        self.batches += 1
        self.examples += batch.examples
        self.bytes += numbers.nbytes

    def write(self, sink: Any) -> None:
        """Writes it as an Arrow file of one record batch."""
        import pyarrow as pa

        columns, fields = [pa.array(np.concatenate(self._rows))], [pa.field(ROW, pa.int64(), nullable=False)]
        for kind in self._kinds:
            chunks = self._chunks.pop(kind.path)
            whole = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)
            kept_as = column_type(kind, whole.type)
            columns.append(whole if kept_as == whole.type else pa.ExtensionArray.from_storage(kept_as, whole))
            fields.append(pa.field(kind.path, kept_as, nullable=False))
        schema = pa.schema(fields)
        with pa.ipc.new_file(pa.PythonFile(sink, "w"), schema) as file:
            file.write_batch(pa.record_batch(columns, schema=schema))

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
