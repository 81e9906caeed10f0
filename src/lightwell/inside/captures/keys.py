"""Can a feature be a key, and is it unique? Found out in bounded memory, whatever the number of rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.errors import UsageError
from lightwell.inside.captures.kinds import Kind

if TYPE_CHECKING:
    from lightwell.inside.captures.store import Capture

_MOST_AT_ONCE = 2**22


def check_key(kinds: Sequence[Kind], path: str) -> None:
    """Refuses a key that cannot identify an example.

    Raises:
        UsageError: it is no single number or string.
    """
    kind = next(one for one in kinds if one.path == path)
    is_single = kind.is_fixed and kind.shape in ((), (1,))
    if not is_single or kind.dtype not in ("string", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"):
        sizes = (
            "of unknown sizes"
            if kind.shape is None
            else "×".join("?" if one is None else str(one) for one in kind.shape)
        )
        raise UsageError(
            f"capture: key={path!r} holds {kind.dtype} {sizes or 'numbers'}; expected one whole number or one string "
            "for each example."
        )


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


def _refuse(store: Capture, path: str, digest: Any) -> None:
    places: list[int] = []
    first = 0
    for chunk in store[path].chunks:
        places += (np.flatnonzero(_hashed(chunk.reshape(-1)) == digest) + first).tolist()
        first += len(chunk)
    key = store[path][places[0]]
    raise UsageError(
        f"capture: key={path!r} does not identify an example: {np.asarray(key).item()!r} is the key of {len(places)} "
        f"rows, the first of them {places[:3]}. Name a feature that each example has its own value of. The rows are "
        f"kept in {store.path!r}: with {path!r} among the taps and no key=, capture gives them as they are."
    )
