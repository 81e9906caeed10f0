"""Reads a notebook as a program: its code cells in order, without lines that only Jupyter understands.

`read_notebook` returns a `Notebook`: the Python of each cell with its line numbers, and a note for every skipped line
(`%matplotlib inline`, `!pip install`, `%%bash`). Nothing is run.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

SUFFIX = ".ipynb"
# Magics at the top of a cell whose other lines are Python. Cells of other magics are not Python.
_PYTHON_BELOW = frozenset({"time", "timeit", "capture", "prun", "python", "python3"})
_WRITES = "writefile"
_VERSION = re.compile(r"^\s*%tensorflow_version\s+(\d)")
_LINE = re.compile(r"^(?P<indent>\s*)(?P<name>[A-Za-z_]\w*\s*=\s*)?(?P<jupyter>[!%].*)$")
_QUOTES = ('"""', "'''")
_TOKEN = re.compile(r"""\"{3}|'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\#.*|[()\[\]{}]""")
_TIMED = re.compile(r"^(\s*)%time[ \t]+(?=\S)")
_HELP = re.compile(r"^(?P<indent>\s*)(?P<jupyter>\?{1,2}[\w.]+|[\w.]+\?{1,2})\s*$")


@dataclass(frozen=True)
class Note:
    """A line that was skipped."""

    cell: int
    line: int
    text: str

    def __str__(self) -> str:
        return f"cell {self.cell}, line {self.line}: skipped {self.text}"


@dataclass(frozen=True)
class NotebookCell:
    """A cell of code.

    Attributes:
        number: its place among the cells of code, from 1.
        source: its Python; as many lines as the cell has.
        writes: the file that it writes itself into, by `%%writefile`.
        text: what is written there.
        appends: whether that is added to what the file holds.
    """

    number: int
    source: str
    writes: str = ""
    text: str = ""
    appends: bool = False


@dataclass(frozen=True)
class Notebook:
    """The code of a notebook.

    Attributes:
        file: its path.
        cells: its cells of code, in order.
        notes: the lines that were skipped.
        tensorflow: the version that `%tensorflow_version` sets, or the empty text.
    """

    file: str
    cells: tuple[NotebookCell, ...]
    notes: tuple[Note, ...]
    tensorflow: str = ""

    @property
    def source(self) -> str:
        """All cells as one text."""
        return "\n".join(cell.source for cell in self.cells)

    def location_of(self, line: int) -> tuple[int, int]:
        """The cell, and the line in it, of a line of `source`."""
        for cell in self.cells:
            length = cell.source.count("\n") + 1
            if line <= length:
                return cell.number, line
            line -= length
        return len(self.cells), line

    def cell_file(self, number: int) -> str:
        """The file name of a cell in a traceback."""
        return f"{self.file}, cell {number}"


class NotANotebook(Exception):
    """The file is not a notebook."""


def read_notebook(file: str) -> Notebook:
    """Read a notebook, of format 3 or 4.

    Raises:
        NotANotebook: the file is not one.
    """
    try:
        with open(file, encoding="utf-8") as opened:
            content = json.load(opened)
        sheets = content.get("worksheets", [content])
        code_cells = [cell for sheet in sheets for cell in sheet["cells"] if cell["cell_type"] == "code"]
        texts = ["".join(cell.get("source", cell.get("input", ""))) for cell in code_cells]
    except (ValueError, KeyError, TypeError) as error:
        raise NotANotebook(f"{file!r} is not a notebook: {type(error).__name__}: {error}") from None
    cells: list[NotebookCell] = []
    notes: list[Note] = []
    for number, text in enumerate(texts, start=1):
        cell, skipped = _read_cell(number, text)
        cells.append(cell)
        notes += skipped
    versions = [match[1] for text in texts for match in map(_VERSION.match, text.splitlines()) if match]
    return Notebook(file, tuple(cells), tuple(notes), versions[0] if versions else "")


def _read_cell(number: int, text: str) -> tuple[NotebookCell, list[Note]]:
    lines = text.split("\n")
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    top = lines[first].strip()
    notes: list[Note] = []
    if top.startswith("%%"):
        magic, _, rest = top[2:].partition(" ")
        blank = "\n" * (len(lines) - 1)
        if magic == _WRITES:
            words = rest.split()
            text = "\n".join([*lines[first + 1 :], ""])
            return NotebookCell(number, blank, writes=words[-1], text=text, appends="-a" in words), []
        notes.append(Note(number, first + 1, top))
        if magic not in _PYTHON_BELOW:
            notes[0] = replace(notes[0], text=f"{top} and the {len(lines) - first - 1} lines below it")
            return NotebookCell(number, blank), notes
        lines[first] = ""
    lines = _without_timing(lines)
    inside = _lines_inside_texts(lines)
    continued: Note | None = None
    for place, line in enumerate(lines):
        if continued is not None:  # a command goes on in the next line
            notes[-1] = continued = replace(continued, text=f"{continued.text} {line.strip()}")
            lines[place] = ""
        else:
            match = None if place in inside else (_LINE.match(line) or _HELP.match(line))
            if match is None:
                continue
            continued = Note(number, place + 1, match["jupyter"])
            notes.append(continued)
            name = match.groupdict().get("name") or ""
            # An empty line where that is valid: `from __future__ import` must be the first statement.
            instead = f"{name}None" if name else "pass" if match["indent"] else ""
            lines[place] = f"{match['indent']}{instead}"
        if not line.rstrip().endswith("\\"):
            continued = None
    return NotebookCell(number, "\n".join(lines)), notes


def _without_timing(lines: list[str]) -> list[str]:
    """The lines with the statement alone where `%time` stands before one."""
    inside = _lines_inside_texts(lines)
    return [line if place in inside else _TIMED.sub(r"\1", line) for place, line in enumerate(lines)]


def _lines_inside_texts(lines: list[str]) -> set[int]:
    """The lines that begin inside of a text in three quotes or an open bracket, where `%` and `!` are ordinary."""
    inside: set[int] = set()
    quote, depth = "", 0
    is_command = False
    for place, line in enumerate(lines):
        if quote or depth > 0:
            inside.add(place)
        elif is_command or _LINE.match(line):
            is_command = line.rstrip().endswith("\\")
            continue
        position = 0
        while position < len(line):
            if quote:
                end = line.find(quote, position)
                position = len(line) if end < 0 else end + 3
                quote = quote if end < 0 else ""
                continue
            token = _TOKEN.search(line, position)
            if token is None or token[0].startswith("#"):
                break
            position = token.end()
            quote = token[0] if token[0] in _QUOTES else ""
            depth += (token[0] in "([{") - (token[0] in ")]}")
    return inside
