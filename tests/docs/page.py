"""A page of documentation as data: its blocks of code and its tables."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Command:
    """One line of a shell block: its words, and what its comment says will be seen."""

    words: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class Page:
    """A page, read once."""

    text: str

    def blocks(self, language: str) -> list[str]:
        """The fenced blocks of a language."""
        return re.findall(rf"^```{language}\n(.*?)^```$", self.text, re.DOTALL | re.MULTILINE)

    def file(self, name: str) -> str:
        """The Python block that begins with the file's name in a comment."""
        (found,) = [block for block in self.blocks("python") if block.startswith(f"# {name}\n")]
        return found

    def snippets(self) -> list[str]:
        """The Python blocks that are no files."""
        return [block for block in self.blocks("python") if not re.match(r"# \w+\.py\n", block)]

    def commands(self) -> list[Command]:
        """The lines of all shell blocks, in order."""
        lines = [line for block in self.blocks("sh") for line in block.splitlines() if line.strip()]
        return [Command(tuple(shlex.split(line, comments=True)), line.partition(" # ")[2].strip()) for line in lines]

    def section(self, title: str) -> str:
        """The text below a heading, up to the next one of the same level."""
        (found,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.text, re.DOTALL | re.MULTILINE)
        return found

    def first_column(self, title: str) -> list[str]:
        """The code in the first cell of every row of a section's table."""
        rows = [line for line in self.section(title).splitlines() if line.startswith("| ")][1:]
        cells = [re.split(r"(?<!\\) \| ", row.removeprefix("| "))[0] for row in rows]
        return [cell.strip("`").strip() for cell in cells]


def read(name: str) -> Page:
    """A page of `docs/`."""
    return Page((DOCS / name).read_text())
