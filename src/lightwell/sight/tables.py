"""Rows as tables: text whose columns line up, and HTML for a notebook. Takes strings, gives text.

What stands in the cells comes out of files as well: it is made `visible` here, for all tables.
"""

from __future__ import annotations

import html
from collections.abc import Container, Iterable, Sequence

from lightwell.visible import visible, visible_lines

WIDTH = 80


def columns(rows: Sequence[Sequence[str]], right: Container[int] = ()) -> str:
    """Rows as lines whose columns line up; those in `right` are aligned to the right."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def narrow(rows: Sequence[Sequence[str]], right: Container[int] = (), together: int = 1, most: int = WIDTH) -> str:
    """The same, as several tables below each other where one would be wider than a terminal.

    Args:
        rows: the cells, the head first. The first column begins each table.
        right: the columns that are aligned to the right.
        together: of the others, so many stay side by side.
        most: how wide a table may be.
    """
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    parts: list[list[int]] = [[0]]
    for first in range(1, len(widths), together):
        group = range(first, min(first + together, len(widths)))
        if len(parts[-1]) > 1 and sum(widths[place] for place in (*parts[-1], *group)) - 2 > most:
            parts.append([0])
        parts[-1] += group
    return "\n\n".join(
        columns([[row[i] for i in part] for row in rows], [k for k, i in enumerate(part) if i in right])
        for part in parts
    )


def html_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right: Container[int] = (), *, above: str = "", below: str = ""
) -> str:
    """The same as HTML, lines within a cell below each other, with a line above and below it where there is one."""
    title, foot = (f"<p>{html.escape(visible(text))}</p>" if text else "" for text in (above, below))
    body = "".join(f"<tr>{_cells('td', row, right)}</tr>" for row in rows)
    table = f"<table><thead><tr>{_cells('th', head, right)}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{title}{table}{foot}</div>"


def _cells(tag: str, row: Sequence[str], right: Container[int]) -> str:
    sides = ("right" if place in right else "left" for place in range(len(row)))
    texts = ("<br/>".join(map(html.escape, visible_lines(cell).split("\n"))) for cell in row)
    return "".join(f'<{tag} style="text-align:{side}">{text}</{tag}>' for side, text in zip(sides, texts, strict=True))
