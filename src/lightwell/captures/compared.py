"""Does the input still give the rows that a capture has? What came from the input must be equal, what was computed
close: sums may be rounded differently on another machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from lightwell.captures.batch import Batch
from lightwell.captures.filling import ROW
from lightwell.captures.folder import Folder
from lightwell.captures.kinds import Kind, from_arrow, to_arrow
from lightwell.captures.manifest import Manifest, Shard

_OF_THE_INPUT = ("features", "labels")


def difference(folder: Folder, manifest: Manifest, shard: Shard, batch: Batch) -> str:
    """How a batch differs from the rows of a shard that are of the same numbers; empty where it does not.

    The key alone decides, if there is one.
    """
    import pyarrow as pa

    batch = batch.wanted()
    with pa.memory_map(folder.file(shard.file)) as source:
        table = pa.ipc.open_file(source).get_batch(0)
        numbers = table.column(ROW).to_numpy()
        first = int(np.searchsorted(numbers, batch.first_row))
        end = int(np.searchsorted(numbers, batch.first_row + batch.examples))
        if not np.array_equal(numbers[first:end], batch.rows):
            return f"there are {len(batch.rows)} rows from example {batch.first_row} on, where {end - first} were"
        kinds = [manifest.kind(manifest.key)] if manifest.key is not None else manifest.kinds
        for kind in kinds:
            made = to_arrow(kind, batch.values[kind.path], kind.path in manifest.text)
            kept = table.column(kind.path).slice(first, end - first)
            if not _is_same(kind, kept, made):
                return f"{kind.path!r} is another from example {batch.first_row} on"
    return ""


def _is_same(kind: Kind, kept: Any, made: Any) -> bool:
    storage = kept.storage if hasattr(kept, "storage") else kept
    if storage.equals(made):
        return True
    is_exact = kind.path.partition("/")[0] in _OF_THE_INPUT or kind.dtype in ("string", "bool")
    one, other = (from_arrow(kind, part) for part in (storage, made))
    if is_exact or one is None or other is None or one.shape != other.shape:
        return is_exact and one is not None and other is not None and one.dtype.kind == "f" and _equal(one, other)
    return bool(np.allclose(one, other, rtol=1e-2, atol=1e-3, equal_nan=True))


def _equal(one: Any, other: Any) -> bool:
    return bool(np.array_equal(one, other, equal_nan=True))
