"""The sources as data: every module of the package, what it imports and what it calls, read off the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "lightwell"
# Rooms whose own modules stand for one thing.
WHOLE = ("estimator", "compat", "cli")


@dataclass(frozen=True)
class Source:
    """One module of the package."""

    path: Path

    @property
    def name(self) -> str:
        """Relative path, such as `run/engine/build.py`."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def part(self) -> str:
        """The part of the package that it belongs to, such as `run/engine`; see `part_of`."""
        names = self.name.removesuffix(".py").split("/")
        return part_of(names[:-1] if names[-1] == "__init__" else names)

    @property
    def lines(self) -> int:
        return len(self.path.read_text().splitlines())

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text())

    @property
    def docstring(self) -> str | None:
        return ast.get_docstring(self.tree)

    def imports(self) -> Iterator[str]:
        """Full names of all that is imported, wherever in the file: `from a import b` gives `a.b`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def imported_parts(self) -> Iterator[str]:
        """Which parts of the package it imports; `""` for the package itself."""
        for name in self.imports():
            if name == "lightwell" or name.startswith("lightwell."):
                yield part_of(name.split(".")[1:])

    def calls(self) -> Iterator[str]:
        """The dotted names of everything that it calls, such as `tf.Graph`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func)


def part_of(names: Sequence[str]) -> str:
    """The part of the package for the names below it: `room/folder`, `room/module`, a room, or a page.

    The modules of the rooms in `WHOLE` are one part, with the name of the room; their folders are parts of their own.
    """
    if not names or not (PACKAGE / names[0]).is_dir():
        return names[0] if names and (PACKAGE / f"{names[0]}.py").is_file() else ""
    room, *below = names
    if below and (PACKAGE / room / below[0]).is_dir():
        return f"{room}/{below[0]}"
    if room not in WHOLE and below and (PACKAGE / room / f"{below[0]}.py").is_file():
        return f"{room}/{below[0]}"
    return room


def sources() -> list[Source]:
    """All modules of the package."""
    return [Source(path) for path in sorted(PACKAGE.rglob("*.py"))]
