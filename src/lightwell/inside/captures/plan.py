"""The size of a capture, estimated by its first batch, and what fits into a budget."""

from __future__ import annotations

import errno
import math
from dataclasses import dataclass

from lightwell.errors import CaptureError
from lightwell.inside.captures.sizes import in_words

SAMPLE, STATISTICS = "sample", "statistics"
_SPARE = 1.02  # padding, schemas, the manifest


@dataclass(frozen=True)
class Size:
    """What a capture takes.

    Attributes:
        row_bytes: the bytes of a row.
        rows: how many rows there will be, at most; None where nobody knows before the end.
    """

    row_bytes: float
    rows: int | None

    @property
    def bytes(self) -> float | None:
        """All of it."""
        return None if self.rows is None else self.rows * self.row_bytes * _SPARE

    def __str__(self) -> str:
        if self.bytes is None or self.rows is None:
            return f"{in_words(self.row_bytes)} a row, for rows of unknown number"
        return f"{self.rows:,} rows of {in_words(self.row_bytes)}, about {in_words(self.bytes)}"


class TooMuch(Exception):
    """A capture does not fit into its budget, and statistics are to take its place; `args[0]` says so."""


def every_for(size: Size, budget: int | None, beyond: str) -> tuple[int, str]:
    """The stride of the sample that fits into a budget, and a text about it, empty for all examples.

    Raises:
        TooMuch: it does not fit, and a sample is not allowed.
    """
    if budget is None or size.bytes is None or size.bytes <= budget:
        return 1, ""
    every = math.ceil(size.bytes / budget)
    all_of_it = f"all of it would take {in_words(size.bytes)}, and the budget is {in_words(budget)}"
    if beyond == STATISTICS:
        raise TooMuch(f"{all_of_it}: statistics over all examples are kept, and no rows.")
    sample_rows = math.ceil((size.rows or 0) / every)
    return every, f"{all_of_it}: one example of {every} is kept, at most {sample_rows:,} rows."


def check_room(size: Size, every: int, free: int, folder: str) -> None:
    """Refuses to begin what cannot end.

    Raises:
        CaptureError: the disk has not so much room.
    """
    needed = None if size.bytes is None else size.bytes / every
    if needed is not None and needed > free:
        raise CaptureError(
            errno.ENOSPC,
            f"capture: {folder!r} needs about {in_words(needed)} ({size}), and {in_words(free)} are free on its disk. "
            f'Tap less, name a folder on another disk, or give a budget: budget="{in_words(free * 0.8)}".',
        )
