"""Which files are a program's own, and which belong to Python, to an installed package or to Lightwell.

A program's own is what lies below its script's folder or the current directory, and what it finds through `PYTHONPATH`
or through a folder that it puts on `sys.path` itself: a repository's root on the path is the usual layout. Installed is
what Python finds by itself (its library, `site-packages`, editable installs) and what a wheel was unpacked into,
wherever that lies (`pip install --target`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass

import lightwell

_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class Places:
    """The folders of a program.

    Attributes:
        folders: where the program is run: what is below them is its own.
        found_by_python: what stands on `sys.path` without the program or its user having put it there.
    """

    folders: tuple[str, ...]
    found_by_python: frozenset[str]

    def owns(self, file: str) -> bool:
        """Whether `file` is the program's own."""
        path = os.path.realpath(file)
        if not _INSTALLED.isdisjoint(path.split(os.sep)) or any(_is_below(path, part) for part in _installation()):
            return False
        return any(_is_below(path, folder) and not _is_unpacked(path, folder) for folder in self._places())

    def _places(self) -> Iterator[str]:
        yield from self.folders
        # Looked at anew for each file: programs put folders on the path while they run.
        yield from (entry for entry in map(os.path.realpath, sys.path) if entry not in self.found_by_python)


def places_of(*folders: str) -> Places:
    """The places of a program that is run in `folders`; to be asked before anything of it runs."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    asked_for = {os.path.realpath(entry) for entry in given}
    on_path = frozenset(os.path.realpath(entry) for entry in sys.path)
    return Places(tuple(os.path.realpath(folder) for folder in folders), on_path - asked_for)


@functools.cache
def _installation() -> tuple[str, ...]:
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    ours = os.path.dirname(lightwell.__file__)
    return tuple(os.path.realpath(folder) for folder in (*(sysconfig.get_paths()[kind] for kind in kinds), ours))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _is_unpacked(path: str, folder: str) -> bool:
    """Whether a wheel put the package that `path` belongs to into `folder`."""
    return os.path.relpath(path, folder).split(os.sep)[0] in _unpacked_into(folder)


@functools.cache
def _unpacked_into(folder: str) -> frozenset[str]:
    """The packages and modules that wheels put into a folder. A source tree (`.egg-info`) has no such record."""
    records = (found.read_text("RECORD") for found in importlib.metadata.distributions(path=[folder]))
    return frozenset(line.split("/")[0].split(",")[0] for text in records if text for line in text.splitlines())
