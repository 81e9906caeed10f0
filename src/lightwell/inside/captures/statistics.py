"""Statistics over the rows of a capture, computed from mapped files, or stored in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.errors import CaptureError, UsageError
from lightwell.inside.captures.folder import STATISTICS, Folder
from lightwell.inside.captures.manifest import Manifest
from lightwell.inside.watches.over_data import Moments
from lightwell.inside.watches.unit_stats import Statistics, UnitStats

if TYPE_CHECKING:
    from lightwell.inside.captures.column import Column

_NUMBERS = ("mean", "std", "min", "max", "zeros")
_ROWS_AT_ONCE = 2**13


def statistics_of(column: Column) -> UnitStats:
    """Statistics of each unit, over all rows.

    Raises:
        UsageError: the values are no numbers, or there are none.
    """
    if column.dtype.kind not in "fiub":
        raise UsageError(f"stats: {column.path!r} holds {column.dtype}; statistics need numbers.")
    moments: Moments | None = None
    for chunk in column.chunks:
        for start in range(0, len(chunk), _ROWS_AT_ONCE):
            part = Moments.of(chunk[start : start + _ROWS_AT_ONCE])
            moments = part if moments is None else moments.joined(part)
    if moments is None:
        raise UsageError(f"stats: {column.path!r} has no rows.")
    return moments.stats()


def write_statistics(folder: Folder, statistics: Mapping[str, UnitStats]) -> str:
    """Writes statistics as an Arrow file, a row for each path; gives its checksum."""
    import pyarrow as pa

    entries = list(statistics.values())
    data: dict[str, Any] = {
        "path": pa.array(list(statistics)),
        "count": pa.array([one.count for one in entries], pa.int64()),
        "shape": pa.array([list(np.shape(one.mean)) for one in entries], pa.list_(pa.int64())),
    }
    for name in _NUMBERS:
        flat = [np.asarray(getattr(one, name), np.float64).reshape(-1) for one in entries]
        data[name] = pa.array(flat, pa.list_(pa.float64()))
    table = pa.table(data)

    def fill(sink: Any) -> None:
        with pa.ipc.new_file(pa.PythonFile(sink, "w"), table.schema) as file:
            file.write_table(table)

    return folder.write(STATISTICS, fill)[1]


def read_statistics(folder: Folder, manifest: Manifest) -> Statistics:
    """What `keep_statistics` wrote.

    Raises:
        CaptureError: the file is damaged.
    """
    import pyarrow as pa

    try:
        if not folder.has_sound_statistics(manifest):
            raise ValueError("its checksum is another, so it is not as it was written")
        with pa.memory_map(folder.file(STATISTICS)) as source:
            rows = pa.ipc.open_file(source).read_all().to_pylist()
        return Statistics((row["path"], _stats_of(row)) for row in rows)
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise CaptureError(
            f"{folder.file(STATISTICS)} is damaged: {error}. Call capture again with the same arguments: it is written "
            "again."
        ) from error


def _stats_of(row: Mapping[str, Any]) -> UnitStats:
    numbers = {name: np.reshape(np.asarray(row[name], np.float64), row["shape"]) for name in _NUMBERS}
    return UnitStats(row["count"], **numbers)
