"""The thread that writes a capture: takes batches from a short queue, fills shards, and keeps the manifest.

The model computes the next batches meanwhile; where it is faster than the disk, it waits. In memory there are at most
a piece of a shard and the queue. Shards end with a batch, at the first one that makes them as big as was asked for: so
the same rows give the same files.
"""

from __future__ import annotations

import bisect
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from lightwell.errors import CaptureError, LightwellError
from lightwell.inside.captures.batches import Batches
from lightwell.inside.captures.folder import FileBeingWritten, Folder, Gap
from lightwell.inside.captures.manifest import Manifest, Shard
from lightwell.inside.captures.shard_writer import ShardWriter

_MOST_WAITING = 2**24  # bytes, with what is being written: some calls of many steps
_STOP = None


class Writer:
    """Writes the rows of one gap.

    Args:
        folder: where to.
        manifest: of the shards that are there.
        gap: which batches are to come.
        shard_bytes: how big a shard is to be.
        text: whether strings may be stored as text.
        settle: completes a manifest before it is first written; may take a while.

    Attributes:
        manifest: of the shards that are there by now.
        written: how many bytes there are, of whole shards and of the one that is being filled.
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
        self.written = self._finished = sum(shard.bytes for shard in manifest.shards)
        self._folder, self._gap, self._shard_bytes = folder, gap, shard_bytes
        self._settle = settle
        self._shard = ShardWriter(manifest, text, shard_bytes, self._begin_shard)
        self._queue: deque[Batches | None] = deque()
        self._waiting = 0
        self._changed = threading.Condition()
        self._failure: BaseException | None = None
        self._is_broken_off = False
        self._thread = threading.Thread(target=self._work, name="lightwell-capture", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def close(self, is_whole: bool) -> None:
        """Ends the thread. Whoever goes on writes the manifest, which may have one more shard by then.

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

    def put(self, batches: Batches) -> None:
        """Hands batches over; waits while too much is waiting.

        Raises:
            CaptureError: a shard before could not be written.
        """
        size = batches.bytes
        with self._changed:
            while self._waiting and self._waiting + size > _MOST_WAITING and self._failure is None:
                self._changed.wait()
            self._raise_failure()
            self._waiting += size
            self._queue.append(batches)
            self._changed.notify_all()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        try:
            self.manifest = self._settle(self.manifest)
            self._folder.write_manifest(self.manifest)
            while (batches := self._next()) is not _STOP:
                size = batches.bytes
                while batches is not None:
                    batches = self._shard.take(batches)
                    self.written = self._finished + self._shard.written
                    if self._shard.is_full:
                        self._finish_shard()
                        self._folder.write_manifest(self.manifest)
                self._took(size)
            if self._shard.batches and not self._is_broken_off:
                self._finish_shard()
        except BaseException as error:
            with self._changed:
                self._failure = error
                self._changed.notify_all()
        finally:
            self._shard.drop()

    def _next(self) -> Batches | None:
        with self._changed:
            while not self._queue:
                self._changed.wait()
            return self._queue.popleft()

    def _took(self, size: int) -> None:
        with self._changed:
            self._waiting -= size
            self._changed.notify_all()

    def _begin_shard(self) -> FileBeingWritten:
        return self._folder.begin(_name(self._place))

    @property
    def _place(self) -> int:
        """Where the shard belongs. Gaps are filled in order: all before it are there."""
        return bisect.bisect([shard.first_batch for shard in self.manifest.shards], self._shard.first_batch)

    def _finish_shard(self) -> None:
        filled, place = self._shard, self._place
        end = filled.first_batch + filled.batches
        if self._gap.end is not None and end > self._gap.end:
            raise other_rows(self._folder.path, f"the shard at row {filled.first_row} would end elsewhere")
        size, checksum = filled.finish()
        self._finished += size
        shard = Shard(
            _name(place),
            filled.rows,
            filled.first_batch,
            filled.batches,
            filled.first_row,
            filled.examples,
            size,
            checksum,
        )
        shards = [*self.manifest.shards[:place], shard, *self.manifest.shards[place:]]
        self.manifest = replace(self.manifest, shards=tuple(shards), text=filled.text)
        filled.empty()


def _name(place: int) -> str:
    return f"shard-{place:05d}.arrow"


def other_rows(folder: str, what: str) -> LightwellError:
    """What to raise where the input does not give the rows that a capture has already."""
    return CaptureError(
        f"capture: {folder!r} was begun with other rows than input_fn gives now: {what}. To go on with a capture, the "
        "input must give the same examples in the same order each time: seed its shuffling, or leave that out; read "
        "files in a fixed order. To start over: capture(..., overwrite=True)."
    )
