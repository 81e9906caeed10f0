"""The output of a watch that keeps what it sees on disk: every batch becomes rows of a capture.

Takes the looks of a watch, in order; the first one tells how much all of them will take. Gives batches to the `Writer`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lightwell.captures.batch import Batch
from lightwell.captures.compared import difference
from lightwell.captures.folder import Folder, Gap
from lightwell.captures.kinds import Kind, kind_of
from lightwell.captures.manifest import Manifest
from lightwell.captures.plan import Size, check_room, every_for
from lightwell.captures.progress import CaptureProgress
from lightwell.captures.sizes import in_words
from lightwell.captures.writer import Writer, other_rows
from lightwell.errors import UsageError
from lightwell.log import logger
from lightwell.sight.batch import examples_of
from lightwell.sight.outputs import Output
from lightwell.sight.request import Wanted
from lightwell.sight.step import Step


class ToRows(Output):
    """Makes batches of looks, and hands them to a function. What has no row for each example is refused.

    Attributes:
        kinds: what is read, in order; known once the watch is attached to a program.
    """

    is_result = True
    needs_examples = True

    def __init__(self) -> None:
        self.kinds: tuple[Kind, ...] = ()
        self._paths: dict[str, str] = {}
        self._number = self._row = 0
        self._take: Callable[[Batch], bool] = lambda batch: True
        self._is_done = False

    def reads(self, wanted: Sequence[Wanted]) -> None:
        """Learns what will come."""
        self._paths = {item.entry.path: item.key for item in wanted}
        found = {item.entry.path: kind_of(item.entry.path, item.entry.tensor) for item in wanted}
        self.kinds = tuple(found.values())

    def begin_at(self, number: int, take: Callable[[Batch], bool]) -> None:
        """Says which batch comes next, and who takes it; that one may want no more. Examples are counted from there."""
        self._number, self._row, self._take, self._is_done = number, 0, take, False

    def take(self, step: Step) -> None:
        """Hands a batch on. One call may run steps past the one after which no more was wanted."""
        if self._is_done:
            return
        examples = int(step.examples or 0)
        values = {path: step[key] for path, key in self._paths.items()}
        for path, value in values.items():
            if examples_of(value, examples) is None:
                raise UsageError(
                    f"capture: {path!r} is not made of one row for each example: in a batch of {examples} examples it "
                    f"has the shape {list(np.shape(value))}. Leave it out: name the paths that you want."
                )
        batch = Batch(self._number, self._row, examples, values)
        self._number, self._row = self._number + 1, self._row + examples
        self._is_done = not self._take(batch)
        if self._is_done:
            step.stop()


@dataclass(frozen=True)
class Limits:
    """How much of a capture to keep, and in what form.

    Attributes:
        shard_bytes: how big a shard is to be.
        budget: how big all may be.
        beyond: what to do if it does not fit: `"sample"` or `"statistics"`.
        steps: after how many batches of the input to end.
        text: whether strings may be kept as text.
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

    def take(self, batch: Batch) -> bool:
        """Takes a batch; says whether it wants more."""
        if batch.number < self._gap.first:
            self._compare(batch)
            return True
        writer = self._writer or self._start(batch)
        if self._is_over(batch.number) or self._is_spent(batch):
            return False
        writer.put(batch if self.manifest.every == 1 else replace(batch, every=self.manifest.every))
        self._progress.at(batch.first_row + batch.examples, writer.written, self._total)
        return not self._is_over(batch.number + 1)

    def _is_over(self, number: int) -> bool:
        end = self._gap.end if self._gap.end is not None else self._limits.steps
        return end is not None and number >= end

    def _compare(self, batch: Batch) -> None:
        """Compares the batch before the gap, if it is that, with what is there of it."""
        if self._gap.after is None or batch.number != self._gap.first - 1:
            return
        found = difference(self._folder, self.manifest, self._gap.after, replace(batch, every=self.manifest.every))
        if found:
            raise other_rows(self._folder.path, found)

    def _start(self, first: Batch) -> Writer:
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
            shutil.disk_usage(self._folder.path).free,
            self._folder.path,
        )
        told = f"capture to {self._folder.path}: {size}"
        told += f", one example of {self.manifest.every}" if self.manifest.every > 1 else ""
        told += f"; goes on at example {first.first_row:,}" if first.first_row else ""
        logger.info("%s", told)
        self._total = rows
        limits = self._limits
        self._writer = Writer(self._folder, self.manifest, self._gap, limits.shard_bytes, limits.text, self._settle)
        self._writer.start()
        self._progress.start(rows, first.first_row, told)
        return self._writer

    def _is_spent(self, batch: Batch) -> bool:
        """Whether the budget is used up, where nobody could tell before that it would be."""
        most = self.manifest.most_examples
        if most is None or batch.first_row + batch.examples <= most or not batch.first_row:
            return False
        words = f"the budget of {in_words(self._limits.budget or 0)} was used up, and the input is of unknown length"
        logger.warning("capture: %s; the first %d examples are kept.", words, batch.first_row)
        self.manifest = replace(self.manifest, ended_early=words)
        return True
