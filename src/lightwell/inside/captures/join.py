"""Two captures side by side: the rows that both have, by their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.errors import UsageError
from lightwell.inside.captures.kinds import Array

if TYPE_CHECKING:
    from lightwell.inside.captures.store import Capture


@dataclass(frozen=True, eq=False)
class Joined:
    """Rows of two captures that belong to the same examples, in the order of the first.

    Attributes:
        first: one capture.
        second: the other.
        first_rows: places in the first.
        second_rows: places in the second, one for one.
    """

    first: Capture
    second: Capture
    first_rows: Array
    second_rows: Array

    @property
    def keys(self) -> Array:
        """What identifies each row."""
        return np.asarray(self.first.keys[self.first_rows])

    def __len__(self) -> int:
        return len(self.first_rows)

    def __getitem__(self, path: str) -> tuple[Any, Any]:
        """The values of a path in both, row for row; both must have it."""
        return self.first[path][self.first_rows], self.second[path][self.second_rows]

    def table(self) -> Any:
        """A `pyarrow.Table` with the columns of both; those of the second that the first has too end in ` (2)`."""
        one, other = self.first.table().take(self.first_rows), self.second.table().take(self.second_rows)
        for field in other.schema:
            taken = field.name in one.column_names
            if not (taken and field.name in (self.second.key, "row")):
                name = f"{field.name} (2)" if taken else field.name
                one = one.append_column(field.with_name(name), other.column(field.name))
        return one

    def __repr__(self) -> str:
        lost = max(len(self.first), len(self.second)) - len(self)
        lost_text = f", {lost:,} without a match" if lost else ""
        return f"Joined({self.first.path!r}, {self.second.path!r}, {len(self):,} rows{lost_text})"


def join(first: Capture, second: Capture) -> Joined:
    """Finds the rows that two captures have in common.

    Raises:
        UsageError: one has no key, or they have different ones.
    """
    if first.key is None or second.key is None:
        missing = first.path if first.key is None else second.path
        raise UsageError(
            f"join: {missing!r} was captured without a key, so nothing tells which rows belong together. Capture it "
            'with key="id", where "id" is a feature that each example has its own value of.'
        )
    one, other = np.asarray(first.keys).reshape(-1), np.asarray(second.keys).reshape(-1)
    if one.dtype.kind != other.dtype.kind:
        raise UsageError(
            f"join: the keys are of different types: {first.key!r} {one.dtype}, {second.key!r} {other.dtype}."
        )
    if one.dtype == object:
        one, other = one.astype(str), other.astype(str)
    _, in_one, in_other = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    order = np.argsort(in_one, kind="stable")
    return Joined(first, second, in_one[order], in_other[order])
