"""Where the source of a module lies, and what it says, looked up on disk.

Nothing is imported, so no package runs its `__init__`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lightwell.cli.notebooks import SUFFIX, read_notebook


@dataclass(frozen=True)
class Source:
    """A source file.

    Attributes:
        name: the module's full name.
        file: its path.
        package: the package that its relative imports start from.
    """

    name: str
    file: str
    package: str


def text_of(file: str) -> str | bytes:
    """The Python of a source file, or that of a notebook's cells.

    Raises:
        OSError: it cannot be read.
        NotANotebook: it is called one, and is none.
    """
    if file.endswith(SUFFIX):
        return read_notebook(file).source
    with open(file, "rb") as source:
        return source.read()


def sources_along(name: str) -> Iterator[Source]:
    """The sources of a dotted name's packages and of the module itself, as far as they exist on `sys.path`."""
    places: Sequence[str] = sys.path
    above = ""
    for part in name.split("."):
        full = f"{above}.{part}".lstrip(".")
        folder = next(
            (path for path in _below(places, part) if os.path.isfile(os.path.join(path, "__init__.py"))), None
        )
        if folder is not None:
            yield Source(full, os.path.join(folder, "__init__.py"), full)
            places = [folder]
        elif file := next((f"{path}.py" for path in _below(places, part) if os.path.isfile(f"{path}.py")), None):
            yield Source(full, file, above)
            return
        else:  # perhaps a folder without __init__.py, spread over several places
            places = [path for path in _below(places, part) if os.path.isdir(path)]
        above = full


def _below(places: Sequence[str], part: str) -> list[str]:
    return [os.path.join(place or os.getcwd(), part) for place in places]
