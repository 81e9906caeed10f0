"""A column of a capture as an array over mapped files: nothing is read before it is looked at.

Takes the record batches of all files; gives views of their memory where rows lie in one of them, and copies where they
are gathered from several.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from lightwell.errors import UsageError
from lightwell.inside.captures.kinds import Array, Kind, example_of, from_arrow


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of a column in one record batch.

    Attributes:
        column: an array of Arrow over mapped memory.
        check: raises CaptureError where the file that it is in is damaged; to be called before numbers are read.
    """

    column: Any
    check: Callable[[], None]

    def checked(self) -> Any:
        """The column, of a file that is sound."""
        self.check()
        return self.column


class _Chunks(Sequence[Array]):
    """An array for each part, built and checked on access."""

    def __init__(self, kind: Kind, parts: Sequence[Part]) -> None:
        self._kind, self._parts = kind, parts
        self._made: dict[int, Array] = {}

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, place: int) -> Array: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Array]: ...
    def __getitem__(self, place: int | slice) -> Array | Sequence[Array]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        if place not in self._made:
            self._made[place] = _array(self._kind, self._parts[place])
        return self._made[place]


class Column:
    """The values of one path, a row for each example.

    `column[3]` is an example's value, `column[10:20]` an array of ten, `column[[5, 2]]` and `column[mask]` gather;
    `np.asarray(column)` is all of it. Slices inside one chunk are views of the file, which nobody can write to. Where
    examples have values of different sizes, a slice is a list of them.

    Attributes:
        path: its path.
        dtype: the type of its values.
        shape: the number of rows, and the sizes of a value; None for one that differs.
        chunks: an array for each record batch, some megabytes, without a copy; for a path of fixed sizes.
    """

    def __init__(self, kind: Kind, parts: Sequence[Part]) -> None:
        self._kind = kind
        self._parts = parts
        self._ends = np.cumsum([0, *(len(part.column) for part in parts)])
        self.path = kind.path
        self.dtype = kind.stored_dtype
        self.shape: tuple[int | None, ...] = (int(self._ends[-1]), *(kind.shape or ()))

    @functools.cached_property
    def chunks(self) -> Sequence[Array]:
        if not self._kind.is_fixed:
            raise _no_array(self.path)
        return _Chunks(self._kind, self._parts)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """How big it is on disk."""
        return sum(int(part.column.nbytes) for part in self._parts)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def __iter__(self) -> Iterator[Any]:
        return (self._example(row) for row in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        rows, rest = (index[0], index[1:]) if isinstance(index, tuple) else (index, ())
        values = self._rows(rows)
        if not rest:
            return values
        place = rest if isinstance(rows, int | np.integer) else (slice(None), *rest)
        return np.asarray(values)[place]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if not self._kind.is_fixed:
            values = list(self)
            array = np.stack(values) if len({np.shape(value) for value in values}) == 1 else np.empty(len(self), object)
            if array.dtype == object:
                array[:] = values
        elif len(self.chunks) == 1:
            array = self.chunks[0]
        else:
            array = np.concatenate(list(self.chunks)) if self.chunks else np.empty((0, *self._kind.sizes), self.dtype)
        return np.array(array, dtype, copy=True) if copy or dtype not in (None, array.dtype) else array

    def __repr__(self) -> str:
        sizes = ", ".join("?" if size is None else f"{size:,}" for size in self.shape)
        return f"Column({self.path!r}, {self._kind.dtype} [{sizes}])"

    def _rows(self, rows: Any) -> Any:
        if isinstance(rows, int | np.integer):
            return self._example(_inside(int(rows), len(self), self.path))
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return self._between(start, max(start, stop))
            return self._gathered(np.arange(start, stop, step))
        if rows is Ellipsis:
            return np.asarray(self)
        places = np.asarray(rows)
        if places.dtype == bool:
            places = np.flatnonzero(places)
        if len(places) and (places.min() < -len(self) or places.max() >= len(self)):
            raise IndexError(f"{self.path!r} has {len(self)} rows, and {places.max()} was asked for.")
        return self._gathered(np.where(places < 0, places + len(self), places))

    def _example(self, row: int) -> Any:
        chunk = int(np.searchsorted(self._ends, row, "right")) - 1
        place = row - int(self._ends[chunk])
        if self._kind.is_fixed:
            return self.chunks[chunk][place]
        return example_of(self._kind, self._parts[chunk].checked(), place)

    def _between(self, start: int, stop: int) -> Any:
        if not self._kind.is_fixed:
            return [self._example(row) for row in range(start, stop)]
        parts = []
        for place in range(int(np.searchsorted(self._ends, start, "right")) - 1, len(self.chunks)):
            first, end = int(self._ends[place]), int(self._ends[place + 1])
            if first >= stop:
                break
            if max(start, first) < min(stop, end):
                parts.append(self.chunks[place][max(start - first, 0) : stop - first])
        if not parts:
            return np.empty((0, *self._kind.sizes), self.dtype)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _gathered(self, rows: Array) -> Any:
        if not self._kind.is_fixed:
            return [self._example(int(row)) for row in rows]
        gathered = np.empty((len(rows), *self._kind.sizes), self.dtype)
        places = np.searchsorted(self._ends, rows, "right") - 1
        for place in np.unique(places):
            mine = places == place
            gathered[mine] = self.chunks[place][rows[mine] - self._ends[place]]
        return gathered


def _array(kind: Kind, part: Part) -> Array:
    array = from_arrow(kind, part.checked())
    if array is None:
        raise _no_array(kind.path)
    return array


def _no_array(path: str) -> UsageError:
    return UsageError(
        f"{path!r} holds values of different sizes, which are no array. Take them example by example: "
        f"store[{path!r}][3], or as a table of Arrow: store.table([{path!r}])."
    )


def _inside(row: int, count: int, path: str) -> int:
    if not -count <= row < count:
        raise IndexError(f"{path!r} has {count} rows, and row {row} was asked for.")
    return row % count
