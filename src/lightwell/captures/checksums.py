"""Checksums of a capture's files: made while a file is written, and compared when it is read again.

They are XXH3, which sums up as fast as memory is read. Captures of the formats 1 and 2 have CRC-32; so a checksum is
told with its kind, as in `xxh3:9f2c…` and `crc32:81f0…`.
"""

from __future__ import annotations

import zlib
from typing import Any

_PIECE = 2**22
XXH3, CRC32 = "xxh3", "crc32"


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
