"""Bytes in words: `"2GB"` as a number, a number as `2.0 GB`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from lightwell.errors import UsageError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")


def bytes_of(value: Any, argument: str) -> int:
    """A number of bytes that a user wrote, `500_000` or `"2GB"`.

    Raises:
        UsageError: it is neither, or not positive.
    """
    size = None
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        size = float(value)
    elif isinstance(value, str) and (match := _WRITTEN.fullmatch(value)) and match[2].upper() in _UNITS:
        size = float(match[1]) * _UNITS[match[2].upper()]
    if size is None or size < 1:
        raise UsageError(f'{argument} must be a number of bytes, as in 500_000 or "2GB"; got {value!r}.')
    return int(size)


def in_words(size: float) -> str:
    """A number of bytes in few letters."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
