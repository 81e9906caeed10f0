"""Decides which files belong to a program, and which to Python, an installed package or Lightwell.

A program owns the files below its script's folder and the current directory, and those it reaches through `PYTHONPATH`
or a folder that it adds to `sys.path`. Python's library, `site-packages`, editable installs and folders that a wheel
was unpacked into (`pip install --target`) are installed.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass

from lightwell.base import package

_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True)
class ProgramFolders:
    """The folders of a program.

    Attributes:
        run_folders: where the program is run; it owns the files below.
        python_path: entries of `sys.path` that neither the program nor its user added.
    """

    run_folders: tuple[str, ...]
    python_path: frozenset[str]

    def owns(self, file: str) -> bool:
        """Whether `file` belongs to the program."""
        path = os.path.realpath(file)
        if not _INSTALLED.isdisjoint(path.split(os.sep)) or any(_is_below(path, part) for part in _installation()):
            return False
        return any(_is_below(path, folder) and not _is_unpacked(path, folder) for folder in self._own_folders())

    def _own_folders(self) -> Iterator[str]:
        yield from self.run_folders
        # Read again for each file, because programs add folders to the path while they run.
        yield from (entry for entry in map(os.path.realpath, sys.path) if entry not in self.python_path)


def program_folders(*folders: str) -> ProgramFolders:
    """The folders of a program that is run in `folders`. Call it before anything of the program runs."""
    from_user = {os.path.realpath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    on_path = frozenset(os.path.realpath(entry) for entry in sys.path)
    return ProgramFolders(tuple(os.path.realpath(folder) for folder in folders), on_path - from_user)


@functools.cache
def _installation() -> tuple[str, ...]:
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    ours = package.FOLDER
    return tuple(os.path.realpath(folder) for folder in (*(sysconfig.get_paths()[kind] for kind in kinds), ours))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _is_unpacked(path: str, folder: str) -> bool:
    """Whether a wheel put the package that `path` belongs to into `folder`."""
    return os.path.relpath(path, folder).split(os.sep)[0] in _unpacked_into(folder)


@functools.cache
def _unpacked_into(folder: str) -> frozenset[str]:
    """The packages and modules that wheels put into a folder. A source tree (`.egg-info`) has no such record."""
    records = (wheel.read_text("RECORD") for wheel in importlib.metadata.distributions(path=[folder]))
    return frozenset(line.split("/")[0].split(",")[0] for text in records if text for line in text.splitlines())
