"""The sources as data: every module of the package, what it imports and what it calls, read off the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "lightwell"


@dataclass(frozen=True)
class Source:
    """One module of the package."""

    path: Path

    @property
    def name(self) -> str:
        """Relative path, such as `engine/build.py`."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def part(self) -> str:
        """The package's part that it belongs to: a folder or a top-level module."""
        return self.name.split("/")[0].removesuffix(".py")

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
                yield name.removeprefix("lightwell").lstrip(".").split(".")[0]

    def calls(self) -> Iterator[str]:
        """The dotted names of everything that it calls, such as `tf.Graph`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield ast.unparse(node.func)


def sources() -> list[Source]:
    """All modules of the package."""
    return [Source(path) for path in sorted(PACKAGE.rglob("*.py"))]
