"""Checksums of a capture's files: made while a file is written, and compared when it is read again.

They are XXH3, which sums up as fast as memory is read. Captures of the formats 1 and 2 have CRC-32; so a checksum is
told with its kind, as in `xxh3:9f2c…` and `crc32:81f0…`.
"""

from __future__ import annotations

import os
import threading
import zlib
from typing import Any

_PIECE = 2**22
XXH3, CRC32 = "xxh3", "crc32"
_noted: set[tuple[Any, ...]] = set()
_lock = threading.Lock()


def running() -> Any:
    """A checksum to which pieces are added with `update`; `told` says it."""
    import xxhash

    return xxhash.xxh3_64()


def told(sum_: Any) -> str:
    """A checksum of `running`, with its kind."""
    return f"{XXH3}:{sum_.hexdigest()}"


def told_crc32(value: int) -> str:
    """A checksum of the formats before, with its kind."""
    return f"{CRC32}:{value:08x}"


def is_sum_of(checksum: str, path: str) -> bool:
    """Whether a file has a checksum that was told.

    Raises:
        OSError: it cannot be read.
    """
    return checksum == (_crc32_of(path) if checksum.startswith(f"{CRC32}:") else _xxh3_of(path))


def is_sum_of_content(checksum: str, content: Any) -> bool:
    """The same of bytes in memory, as of a file that is mapped."""
    if checksum.startswith(f"{CRC32}:"):
        return checksum == told_crc32(zlib.crc32(content))
    found = running()
    found.update(content)
    return checksum == told(found)


def note(checksum: str, state: os.stat_result) -> None:
    """Notes that a file in this state has this checksum: in this process it need not be compared again."""
    with _lock:
        _noted.add(_key(checksum, state))


def is_noted(checksum: str, state: os.stat_result) -> bool:
    """Whether that was noted, and the file not been written to since."""
    return _key(checksum, state) in _noted


def _key(checksum: str, state: os.stat_result) -> tuple[Any, ...]:
    return checksum, state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns


def _xxh3_of(path: str) -> str:
    found = running()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
    return told(found)


def _crc32_of(path: str) -> str:
    found = 0
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            found = zlib.crc32(piece, found)
    return told_crc32(found)
