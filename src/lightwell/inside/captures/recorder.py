"""Takes the batches of a capture in order, and passes the missing ones to the writer.

The first batch tells how much all of them will take: against the budget and the room on the disk. Gives batches to the
`Writer`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lightwell.base.log import logger
from lightwell.inside.captures.batches import Batches
from lightwell.inside.captures.folder import Folder, Gap
from lightwell.inside.captures.manifest import Manifest
from lightwell.inside.captures.plan import Size, check_room, every_for
from lightwell.inside.captures.progress import CaptureProgress
from lightwell.inside.captures.same_capture import difference
from lightwell.inside.captures.sizes import in_words
from lightwell.inside.captures.writer import Writer, other_rows


@dataclass(frozen=True)
class Limits:
    """How much of a capture to keep, and in what form.

    Attributes:
        shard_bytes: how big a shard is to be.
        budget: how big all may be.
        beyond: what to do if it does not fit: `"sample"` or `"statistics"`.
        steps: after how many batches of the input to end.
        text: whether strings may be stored as text.
    """

    shard_bytes: int
    budget: int | None
    beyond: str
    steps: int | None
    text: bool


class Recorder:
    """Takes the batches of one gap of a capture, and writes them.

    Args:
        folder: where to.
        manifest: of what is there.
        gap: what is missing.
        limits: how much, and in what form.
        settle: completes a manifest before it is written; called in the thread that writes.

    Attributes:
        manifest: of what is there by now.
        batches: how many batches the input has, if that is known; set before the first one comes.
    """

    def __init__(
        self, folder: Folder, manifest: Manifest, gap: Gap, limits: Limits, settle: Callable[[Manifest], Manifest]
    ) -> None:
        self.manifest = manifest
        self.batches: int | None = None
        self._folder, self._gap, self._limits, self._settle = folder, gap, limits, settle
        self._writer: Writer | None = None
        self._progress = CaptureProgress()
        self._total: int | None = None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            if self._writer is not None:
                self._writer.close(is_whole=error[0] is None)
                early, self.manifest = self.manifest.ended_early, self._writer.manifest
                self.manifest = replace(self.manifest, ended_early=early)
        finally:
            self._progress.close()

    def take(self, batches: Batches) -> bool:
        """Takes batches; says whether it wants more."""
        known = min(max(self._gap.first - batches.number, 0), len(batches))
        if known:
            self._compare(batches.part(known - 1, known))
            batches = batches.part(known, len(batches))
        if not len(batches):
            return True
        writer = self._writer or self._start(batches.part(0, 1))
        selected = self._within_budget(self._within_end(batches))
        if len(selected):
            writer.put(replace(selected, every=self.manifest.every))
            self._progress.at(selected.first_row + selected.examples, writer.written, self._total)
        return len(selected) == len(batches) and not self._is_over(batches.number + len(batches))

    def _is_over(self, number: int) -> bool:
        end = self._end
        return end is not None and number >= end

    @property
    def _end(self) -> int | None:
        return self._gap.end if self._gap.end is not None else self._limits.steps

    def _within_end(self, batches: Batches) -> Batches:
        """Those before the end of the gap: one call may run steps past it."""
        return batches if self._end is None else batches.part(0, max(self._end - batches.number, 0))

    def _compare(self, batch: Batches) -> None:
        """Compares the batch before the gap, if it is that, with what is there of it."""
        if self._gap.after is None or batch.number != self._gap.first - 1:
            return
        problem = difference(self._folder, self.manifest, self._gap.after, replace(batch, every=self.manifest.every))
        if problem:
            raise other_rows(self._folder.path, problem)

    def _start(self, first: Batches) -> Writer:
        budget = self._limits.budget
        rows = None if self.batches is None else self.batches * max(first.examples, 1)
        size = Size(first.bytes / max(first.examples, 1), rows)
        if not self.manifest.shards:
            every, words = every_for(size, budget, self._limits.beyond)
            if words:
                logger.warning("capture: %s", words)
            most = None if rows is not None or budget is None else int(budget / size.row_bytes)
            self.manifest = replace(self.manifest, every=every, most_examples=most)
        check_room(
            replace(size, rows=None if rows is None else rows - first.first_row),
            self.manifest.every,
            self._folder.room,
            self._folder.path,
        )
        message = f"capture to {self._folder.path}: {size}"
        message += f", one example of {self.manifest.every}" if self.manifest.every > 1 else ""
        message += f"; goes on at example {first.first_row:,}" if first.first_row else ""
        logger.info("%s", message)
        self._total = rows
        limits = self._limits
        self._writer = Writer(self._folder, self.manifest, self._gap, limits.shard_bytes, limits.text, self._settle)
        self._writer.start()
        self._progress.start(rows, first.first_row, message)
        return self._writer

    def _within_budget(self, batches: Batches) -> Batches:
        """Those that the budget is enough for, where nobody could tell before that it is not; the first always."""
        most = self.manifest.most_examples
        if most is None or not len(batches):
            return batches
        is_beyond = (batches.starts[1:] > most) & (batches.starts[:-1] > 0)
        if not is_beyond.any():
            return batches
        fitting = int(np.argmax(is_beyond))
        words = f"the budget of {in_words(self._limits.budget or 0)} was used up, and the input is of unknown length"
        logger.warning("capture: %s; the first %d examples are kept.", words, batches.starts[fitting])
        self.manifest = replace(self.manifest, ended_early=words)
        return batches.part(0, fitting)
