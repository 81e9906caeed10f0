"""Checksums of a capture's files: computed while a file is written, compared when it is read.

They are XXH3, which is as fast as memory is read. A checksum is written with its algorithm: `xxh3:9f2c…`.
"""

from __future__ import annotations

import os
import threading
from typing import Any

_PIECE = 2**22
_XXH3 = "xxh3"
_verified: set[tuple[Any, ...]] = set()
_lock = threading.Lock()


def new_checksum() -> Any:
    """A checksum to which content is added with `update`; `checksum_text` writes it."""
    import xxhash

    return xxhash.xxh3_64()


def checksum_text(checksum: Any) -> str:
    """A checksum of `new_checksum`, with its algorithm."""
    return f"{_XXH3}:{checksum.hexdigest()}"


def is_checksum_of_file(checksum: str, path: str) -> bool:
    """Whether a file has this checksum.

    Raises:
        OSError: it cannot be read.
    """
    actual = new_checksum()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            actual.update(piece)
    return checksum == checksum_text(actual)


def is_checksum_of(checksum: str, content: Any) -> bool:
    """Whether bytes in memory, such as a mapped file, have this checksum."""
    actual = new_checksum()
    actual.update(content)
    return checksum == checksum_text(actual)


def mark_verified(checksum: str, state: os.stat_result) -> None:
    """Records that a file in this state has this checksum, so that this process does not compare it again."""
    with _lock:
        _verified.add(_key(checksum, state))


def is_verified(checksum: str, state: os.stat_result) -> bool:
    """Whether the checksum was compared, and the file not written to since."""
    return _key(checksum, state) in _verified


def _key(checksum: str, state: os.stat_result) -> tuple[Any, ...]:
    return checksum, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
