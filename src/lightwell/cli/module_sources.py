"""Finds and reads the source files of modules on disk.

Imports nothing, so no package runs its `__init__`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lightwell.cli.notebooks import SUFFIX, read_notebook


@dataclass(frozen=True)
class ModuleSource:
    """A source file.

    Attributes:
        name: the module's full name.
        file: its path.
        package: the package that its relative imports start from.
    """

    name: str
    file: str
    package: str


def read_source(file: str) -> str | bytes:
    """The Python code of a source file, or of a notebook's cells.

    Raises:
        OSError: the file cannot be read.
        NotANotebook: the file has a notebook's suffix and is not one.
    """
    if file.endswith(SUFFIX):
        return read_notebook(file).source
    with open(file, "rb") as source:
        return source.read()


def module_sources(name: str, added: Sequence[str] = ()) -> Iterator[ModuleSource]:
    """The sources of a dotted name's packages and of the module itself, as far as they exist on `sys.path`.

    Args:
        name: the dotted name.
        added: folders that the program will put on its path.
    """
    search_path: Sequence[str] = [*sys.path, *added]
    above = ""
    for part in name.split("."):
        full = f"{above}.{part}".lstrip(".")
        folder = next(
            (path for path in _below(search_path, part) if os.path.isfile(os.path.join(path, "__init__.py"))), None
        )
        if folder is not None:
            yield ModuleSource(full, os.path.join(folder, "__init__.py"), full)
            search_path = [folder]
        elif file := next((f"{path}.py" for path in _below(search_path, part) if os.path.isfile(f"{path}.py")), None):
            yield ModuleSource(full, file, above)
            return
        else:  # perhaps a folder without __init__.py, spread over several entries
            search_path = [path for path in _below(search_path, part) if os.path.isdir(path)]
        above = full


def _below(folders: Sequence[str], part: str) -> list[str]:
    return [os.path.join(folder or os.getcwd(), part) for folder in folders]
