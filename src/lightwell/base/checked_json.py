"""JSON read back from a file and validated; the first invalid part is named by its place.

A reader turns parsed JSON into a value, or raises ValueError with what was expected and what came. Readers combine:
`field(data, "shards", all_of(_shard))`. A file name in JSON is that of a file in the same folder, never a path.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

_T = TypeVar("_T")
_INT64_MAX = 2**63 - 1


def parse(content: bytes | str) -> Any:
    """The data in the content of a file.

    Raises:
        ValueError: it is no JSON.
    """
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def field(data: Any, name: str, read: Callable[[Any], _T]) -> _T:
    """A part of an object, by its name."""
    if not isinstance(data, dict):
        raise ValueError(f"expected an object with {name!r}, got {type(data).__name__}")
    if name not in data:
        raise ValueError(f"{name!r} is missing")
    try:
        return read(data[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def optional(data: Any, name: str, read: Callable[[Any], _T], default: _T) -> _T:
    """A part of an object that may be missing."""
    return default if isinstance(data, dict) and name not in data else field(data, name, read)


def check_names(data: Any, known: Collection[str]) -> None:
    """Raises for an object with unknown parts."""
    unknown = sorted(set(data) - set(known)) if isinstance(data, dict) else []
    if unknown:
        raise ValueError(f"{unknown[0]!r:.50} is not known")


def all_of(read: Callable[[Any], _T]) -> Callable[[Any], tuple[_T, ...]]:
    """A reader of lists."""

    def read_all(data: Any) -> tuple[_T, ...]:
        if not isinstance(data, list):
            raise ValueError(f"expected a list, got {type(data).__name__}")
        return tuple(map(read, data))

    return read_all


def by_name(read: Callable[[Any], _T]) -> Callable[[Any], dict[str, _T]]:
    """A reader of objects whose values are all of one kind."""

    def read_each(data: Any) -> dict[str, _T]:
        if not isinstance(data, dict):
            raise ValueError(f"expected an object, got {type(data).__name__}")
        return {name: field(data, name, read) for name in data}

    return read_each


def or_none(read: Callable[[Any], _T]) -> Callable[[Any], _T | None]:
    """A reader that accepts null too."""
    return lambda data: None if data is None else read(data)


def text(data: Any) -> str:
    """Text."""
    if not isinstance(data, str):
        raise ValueError(f"expected text, got {_shortened(data)}")
    return data


def number(data: Any) -> int:
    """A whole number from 0."""
    if not isinstance(data, int) or isinstance(data, bool) or not 0 <= data <= _INT64_MAX:
        raise ValueError(f"expected a number, got {_shortened(data)}")
    return data


def real(data: Any) -> float:
    """A finite number."""
    if not math.isfinite(any_number(data)):
        raise ValueError(f"expected a finite number, got {_shortened(data)}")
    return float(data)


def any_number(data: Any) -> float:
    """A number, which may be infinite or NaN, as a metric may."""
    is_number = isinstance(data, int | float) and not isinstance(data, bool)
    if not is_number or (isinstance(data, int) and abs(data) > _INT64_MAX):
        raise ValueError(f"expected a number, got {_shortened(data)}")
    return float(data)


def truth(data: Any) -> bool:
    """True or false."""
    if not isinstance(data, bool):
        raise ValueError(f"expected true or false, got {_shortened(data)}")
    return data


def one_of(*known: str) -> Callable[[Any], str]:
    """A reader of text that is one of `known`."""

    def read_word(data: Any) -> str:
        if text(data) not in known:
            raise ValueError(f"expected one of {list(known)}, got {_shortened(data)}")
        return str(data)

    return read_word


def file_name(data: Any) -> str:
    """The name of a file, without a folder."""
    name = text(data)
    if name in ("", ".", "..") or "\0" in name or re.search(r"[/\\]", name) or os.path.basename(name) != name:
        raise ValueError(f"expected the name of a file in this folder, got {_shortened(data)}")
    return name


def _shortened(data: Any) -> str:
    text = ascii(data) if isinstance(data, str | int | float | bool | None) else type(data).__name__
    return text if len(text) < 60 else f"{text[:56]}…"
