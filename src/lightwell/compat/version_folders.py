"""Which exported versions to keep: filters over numbered folders, as `tensorflow_estimator`'s private `gc` had them.

A filter takes a list of `Path(path, export_version)` and returns the selected ones, sorted. Deletes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf


class Path(NamedTuple):
    """A folder and the version it holds."""

    path: str
    export_version: int | None


Filter = Callable[[list[Path]], list[Path]]


def largest_export_versions(n: int) -> Filter:
    """Select the `n` newest versions."""

    def keep(paths: list[Path]) -> list[Path]:
        newest = sorted(_numbered(paths), key=lambda path: path.export_version or 0)[-n:] if n > 0 else []
        return sorted(newest)

    return keep


def one_of_every_n_export_versions(n: int) -> Filter:
    """Select the newest version of each interval 1..n, n+1..2n, ...; version 0 counts to the first."""

    def keep(paths: list[Path]) -> list[Path]:
        newest: dict[int, Path] = {}
        for path in sorted(_numbered(paths), key=lambda path: path.export_version or 0):
            newest[max(0, ((path.export_version or 0) - 1) // n)] = path
        return sorted(newest.values())

    return keep


def mod_export_version(n: int) -> Filter:
    """Select the versions that `n` divides."""

    def keep(paths: list[Path]) -> list[Path]:
        return sorted(path for path in _numbered(paths) if (path.export_version or 0) % n == 0)

    return keep


def union(first: Filter, second: Filter) -> Filter:
    """Select the union of two filters."""

    def keep(paths: list[Path]) -> list[Path]:
        return sorted({*first(paths), *second(paths)})

    return keep


def negation(rule: Filter) -> Filter:
    """Select the paths that a filter does not."""

    def keep(paths: list[Path]) -> list[Path]:
        return sorted(set(paths) - set(rule(paths)), key=lambda path: path.path)

    return keep


def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """List the entries of a folder that `parser` accepts; `parser` sets `export_version`, or returns None."""
    entries = [Path(os.path.join(base_dir, name.rstrip("/")), None) for name in tf.io.gfile.listdir(base_dir)]
    return sorted((parsed for parsed in map(parser, entries) if parsed), key=lambda path: path.path)


def _numbered(paths: list[Path]) -> list[Path]:
    return [path for path in paths if path.export_version is not None]
