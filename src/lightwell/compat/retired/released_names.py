"""The public names of six releases of TensorFlow, from 1.4 to 2.15: which name was where, and in which release.

Facts, not verdicts: what becomes of a name today is asked of the tables that serve it. `released_names.txt` holds
them, as `tests/oracle/record_public_names.py` recorded them.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping

RELEASES = ("1.4", "1.8", "1.12", "1.15", "2.4", "2.15")
_FILE = os.path.join(os.path.dirname(__file__), "released_names.txt")


@functools.cache
def released_names() -> Mapping[str, tuple[str, ...]]:
    """Every name without the leading `tf.` (`train.AdamOptimizer`), and the releases that had it, oldest first."""
    names: dict[str, tuple[str, ...]] = {}
    namespace = ""
    releases: tuple[str, ...] = ()
    with open(_FILE, encoding="utf-8") as lines:
        for line in lines:
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            if text.startswith("["):
                namespace = text.strip("[]")
                continue
            if not line.startswith(" "):
                had, _, text = text.partition(":")
                releases = tuple(had.split())
            for name in text.split():
                names[f"{namespace}.{name}".lstrip(".")] = releases
    return names


def releases_of(path: str) -> tuple[str, ...]:
    """The releases that had `tf.<path>`, of those that were recorded; none if it never existed."""
    return released_names().get(path, ())


def when(path: str) -> str:
    """In words which releases had `tf.<path>`: `TensorFlow 1.4 to 1.15`; empty if none had."""
    had = releases_of(path)
    if not had:
        return ""
    return f"TensorFlow {had[0]}" if len(had) == 1 else f"TensorFlow {had[0]} to {had[-1]}"
