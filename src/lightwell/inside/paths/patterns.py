"""Patterns: how users name values, and which names a pattern matches.

A pattern is a path, a glob (`*`, `?`), a name without its section, or a list of those. A bracket in a path is the
number of an output, not a set of characters. Every argument that takes names of values or weights is matched here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

_OUTPUT_OF_LAYER = re.compile(r"(:\d+)?(/input)?(\[\d+\])?$")


def is_glob(pattern: str) -> bool:
    """Whether a pattern is a glob rather than one path."""
    return "*" in pattern or "?" in pattern


def matches(path: str, glob: str) -> bool:
    """Whether a glob matches a whole path."""
    return fnmatchcase(path, glob.replace("[", "[[]"))


def matches_value(path: str, is_input: bool, glob: str) -> bool:
    """Whether a glob selects a value.

    A glob over layers selects their outputs; the inputs of layers are selected by `layers/conv*/input`.
    """
    if not matches(path, glob):
        return False
    owner, _, last = glob.rpartition("/")
    return not is_input or (last.startswith("input") and matches(path.rpartition("/")[0], owner))


def matches_weight(name: str, pattern: str) -> bool:
    """Whether a pattern matches the name of a variable or layer, or a scope above it.

    These names have no brackets, so `conv[12]` is a set of characters here. `:0` may follow a name, as in a path.
    """
    return any(
        fnmatchcase(name, spelling) or fnmatchcase(name, f"{spelling}/*")
        for spelling in dict.fromkeys((pattern, without_first_call(pattern)))
    )


def pattern_list(patterns: Any) -> list[Any]:
    """The patterns of an argument that takes one of them or several."""
    return list(patterns) if isinstance(patterns, Iterable) and not isinstance(patterns, str) else [patterns]


def without_section(path: Any, *sections: Any) -> str:
    """A path without its section, which may be written or not."""
    plain = str(path)
    for section in sections:
        plain = plain.removeprefix(f"{section}/")
    return plain


def with_first_call(path: str, is_input: bool = True) -> str:
    """`layers/dense/input` as `layers/dense:0/input`: the first call of a layer that is called several times.

    Args:
        path: the path of an output or input.
        is_input: whether `/input` at its end means the input of a layer; otherwise it is part of the layer's name.
    """
    end = r"((/input)?(\[\d+\])?)$" if is_input else r"((\[\d+\])?)$"
    return re.sub(end, r":0\1", path, count=1)


def without_first_call(path: str) -> str:
    """`layers/dense:0` as `layers/dense`: the only call of a layer."""
    return re.sub(r":0($|/input|\[)", r"\1", path)


def is_numbered(path: str, base: str) -> bool:
    """Whether a path is one of several outputs of `base`, or a part of a partitioned variable."""
    return path.startswith(base) and re.match(r"(\[\d+\]|/part_\d+)$", path[len(base) :]) is not None


def layer_name(path: str, section: Any) -> str:
    """The name of the layer that a path of an output or input belongs to."""
    return _OUTPUT_OF_LAYER.sub("", without_section(path, section))
