"""Is a key unique? Found out in one pass and bounded memory, whatever the number of rows."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.errors import UsageError

if TYPE_CHECKING:
    from lightwell.captures.store import Capture

_MOST_AT_ONCE = 2**22


def check_unique(store: Capture, path: str) -> None:
    """Refuses a key that two rows share.

    Raises:
        UsageError: with one such key.
    """
    column, count = store[path], len(store)
    parts = -(-count // _MOST_AT_ONCE)
    for part in range(parts):
        seen = []
        for chunk in column.chunks:
            hashes = _hashed(chunk.reshape(-1))
            seen.append(hashes[hashes % np.uint64(parts) == part])
        values, counts = np.unique(np.concatenate(seen), return_counts=True)
        if (counts > 1).any():
            _refuse(store, path, values[np.argmax(counts > 1)])


def _hashed(keys: Any) -> Any:
    if keys.dtype != object:
        return keys.astype(np.int64).view(np.uint64)
    return np.array(
        [int.from_bytes(hashlib.blake2b(_bytes(key), digest_size=8).digest(), "little") for key in keys], np.uint64
    )


def _bytes(key: Any) -> bytes:
    return key if isinstance(key, bytes) else str(key).encode()


def _refuse(store: Capture, path: str, wanted: Any) -> None:
    places: list[int] = []
    first = 0
    for chunk in store[path].chunks:
        places += (np.flatnonzero(_hashed(chunk.reshape(-1)) == wanted) + first).tolist()
        first += len(chunk)
    key = store[path][places[0]]
    raise UsageError(
        f"capture: key={path!r} does not identify an example: {np.asarray(key).item()!r} is the key of {len(places)} "
        f"rows, the first of them {places[:3]}. Name a feature that each example has its own value of. The rows are "
        f"kept in {store.path!r}: with {path!r} among the taps and no key=, capture gives them as they are."
    )
