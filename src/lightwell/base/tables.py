"""`Table`: cells of text, rendered as lines whose columns line up, and as HTML for a notebook.

Cells may come out of files: all of them are made `printable` here.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from lightwell.base.printable import printable, printable_lines

WIDTH = 80


class Cell(str):
    """A cell with more markup in HTML.

    Attributes:
        indent: how far it is indented, in letters; None for a cell that is no code.
        tooltip: the text that is shown over it.
    """

    indent: int | None = None
    tooltip: str = ""

    def __new__(cls, text: str, *, indent: int | None = None, tooltip: str = "") -> Cell:
        cell = super().__new__(cls, text)
        cell.indent, cell.tooltip = indent, tooltip
        return cell


@dataclass(frozen=True)
class Table:
    """Rows of cells.

    Attributes:
        head: the names of the columns; empty for a table without a head.
        rows: the cells.
        right: the columns that are aligned to the right.
        group: how many columns stay side by side where a wide table is wrapped; the first column begins each part.
        widths: fixed widths of the columns, which cut longer cells; empty to fit the cells.
        title: the line above the table in HTML.
        note: the line below the table in HTML.
    """

    head: Sequence[str]
    rows: Iterable[Sequence[str]]
    right: Container[int] = ()
    group: int = 1
    widths: Sequence[int] = ()
    title: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", [tuple(row) for row in self.rows])

    def lines(self) -> list[str]:
        """The head, and one line for each row."""
        rows = [[printable(cell) for cell in row] for row in self._all_rows()]
        if not rows:
            return []
        gap = " " if self.widths else "  "
        widths = self.widths or [max(map(len, column)) for column in zip(*rows, strict=True)]
        return [
            gap.join(
                _padded(cell, width, place in self.right)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]

    def text(self, width: int | None = None) -> str:
        """The table as text, wrapped into several tables below each other where it is wider than `width`."""
        parts = [self] if width is None else self._wrapped(width)
        return "\n\n".join("\n".join(part.lines()) for part in parts)

    def ruled_lines(self, least: int = 0) -> tuple[str, str, list[str]]:
        """The head, a rule as wide as the table but at least `least`, and the lines of the rows."""
        head, *lines = self.lines()
        return head, "─" * max(least, *map(len, (head, *lines))), lines

    def fitted(self, width: int, shortest: int) -> Table:
        """The table with names in the first column cut to what the others leave of `width`, at least `shortest`."""
        most = max(shortest, width - 2 - max(map(len, self._of_columns(range(1, len(self.head))).lines())))
        names = [_without_beginning(row[0], most) for row in self._all_rows()]
        rest = [row[1:] for row in self._all_rows()]
        head, *rows = [(name, *row) for name, row in zip(names, rest, strict=True)]
        return dataclasses.replace(self, head=head, rows=rows)

    def html(self) -> str:
        """The table as HTML, lines within a cell below each other."""
        title, note = (f"<p>{html.escape(printable(text))}</p>" if text else "" for text in (self.title, self.note))
        head, body = (
            self._html_cells("th", self.head),
            "".join(f"<tr>{self._html_cells('td', row)}</tr>" for row in self.rows),
        )
        return f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}</div>"

    def _all_rows(self) -> list[Sequence[str]]:
        return [*([self.head] if self.head else []), *self.rows]

    def _of_columns(self, places: Sequence[int]) -> Table:
        return Table(
            [self.head[place] for place in places],
            [[row[place] for place in places] for row in self.rows],
            [new for new, place in enumerate(places) if place in self.right],
        )

    def _wrapped(self, width: int) -> list[Table]:
        widths = [max(len(printable(cell)) for cell in column) + 2 for column in zip(*self._all_rows(), strict=True)]
        parts: list[list[int]] = [[0]]
        for first in range(1, len(widths), self.group):
            group = range(first, min(first + self.group, len(widths)))
            if len(parts[-1]) > 1 and sum(widths[place] for place in (*parts[-1], *group)) - 2 > width:
                parts.append([0])
            parts[-1] += group
        return [self._of_columns(part) for part in parts]

    def _html_cells(self, tag: str, row: Sequence[str]) -> str:
        sides = ("right" if place in self.right else "left" for place in range(len(row)))
        return "".join(_html_cell(tag, f"text-align:{side}", cell) for side, cell in zip(sides, row, strict=True))


def _html_cell(tag: str, style: str, cell: str) -> str:
    text = "<br/>".join(map(html.escape, printable_lines(cell).split("\n")))
    if isinstance(cell, Cell) and cell.tooltip:
        text = f'<span title="{html.escape(printable(cell.tooltip))}">{text}</span>'
    if isinstance(cell, Cell) and cell.indent is not None:
        style, text = f"{style};padding-left:{cell.indent}em", f"<code>{text}</code>"
    return f'<{tag} style="{style}">{text}</{tag}>'


def _padded(cell: str, width: int, to_the_right: bool) -> str:
    if len(cell) > width:
        return cell[: width - 1] + "…"
    return cell.rjust(width) if to_the_right else cell.ljust(width)


def _without_beginning(name: str, most: int) -> str:
    """A name cut at its beginning: the end says more."""
    return name if len(name) <= most else "…" + name[1 - most :]
