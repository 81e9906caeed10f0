"""The examples in which a unit is strongest, by one pass over mapped files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.base.printable import printable
from lightwell.base.tables import Table
from lightwell.errors import UsageError
from lightwell.inside.captures.kinds import Array

if TYPE_CHECKING:
    from lightwell.inside.captures.store import Capture

_BY: dict[str, Any] = {"max": np.max, "mean": np.mean}


@dataclass(frozen=True, eq=False)
class Top:
    """Examples with large values, the largest first.

    Attributes:
        what: what is large: `layers/conv2d, channel 3`.
        rows: their places in the capture: `store[path][top.rows]` are their values.
        keys: what identifies them.
        values: the values by which they were chosen.
    """

    what: str
    rows: Array
    keys: Array
    values: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        rows = ((str(place), *row) for place, row in enumerate(self._rows(), start=1))
        return f"{printable(self.what)}\n{Table(('', 'key', 'value'), rows, right=(0, 2)).text()}"

    def _repr_html_(self) -> str:
        return Table(("key", "value"), self._rows(), right=(1,), title=self.what).html()

    def _rows(self) -> list[tuple[str, str]]:
        return [(_shown(key), f"{value:.6g}") for key, value in zip(self.keys, self.values, strict=True)]


def top(store: Capture, path: str, unit: Any, k: int, by: str) -> Top:
    """The `k` examples with the largest values of a unit.

    Raises:
        UsageError: there is no such unit, or the values are no numbers.
    """
    column = store[path]
    if column.dtype.kind not in "fiub":
        raise UsageError(f"top: {path!r} holds {column.dtype}, and the largest of them is asked for; expected numbers.")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise UsageError(f"top: k must be a whole number of at least 1, got {k!r}.")
    if by not in _BY:
        raise UsageError(f'top: by must be "max" or "mean", got {by!r}.')
    place = _place(path, column.shape[1:], unit)
    rows, values = np.empty(0, np.int64), np.empty(0)
    first = 0
    for chunk in column.chunks:
        strengths = _strength(chunk, place, by)
        best = np.argsort(-strengths, kind="stable")[:k]
        rows, values = np.concatenate([rows, best + first]), np.concatenate([values, strengths[best]])
        order = np.argsort(-values, kind="stable")[:k]
        rows, values, first = rows[order], values[order], first + len(chunk)
    label = path if unit is None else f"{path}, unit {unit}"
    return Top(label, rows, np.asarray(store.keys[rows]), values)


def _place(path: str, sizes: tuple[int | None, ...], unit: Any) -> Any:
    """How to index values for a unit; None for the norm of all."""
    if unit is None:
        return None
    index = tuple(unit) if isinstance(unit, list | tuple) else (unit,)
    whole = all(isinstance(one, int | np.integer) and not isinstance(one, bool) for one in index)
    bounds = sizes[-1:] if len(index) == 1 else sizes
    if not whole or len(index) != len(bounds) or any(not -n <= i < n for i, n in zip(index, bounds, strict=True) if n):
        shown = "×".join(map(str, sizes)) or "a single number"
        raise UsageError(
            f"top: {path!r} has no unit {unit!r}; its values are {shown}. A number counts along the last dimension, a "
            "tuple names one element."
        )
    return (Ellipsis, index[0]) if len(index) == 1 else (slice(None), *index)


def _strength(chunk: Array, place: Any, by: str) -> Array:
    if place is None:
        flat = chunk.reshape(len(chunk), -1).astype(np.float64)
        return np.abs(flat[:, 0]) if flat.shape[1] == 1 else np.sqrt(np.square(flat).sum(axis=1))
    chosen = chunk[place].reshape(len(chunk), -1).astype(np.float64)
    return _BY[by](chosen, axis=1)


def _shown(key: Any) -> str:
    return key.decode(errors="replace") if isinstance(key, bytes) else str(key)
