"""Tables: no wider than a terminal, in text and in HTML."""

from __future__ import annotations

from xml.etree import ElementTree

from lightwell.sight.tables import columns, html_table, narrow

HEAD = ("unit", *(f"metric_{i}" if j == 0 else "change" for i in range(6) for j in range(2)))
ROWS = [(str(row), *(f"{row}.{i}" if j == 0 else f"+{i}" for i in range(6) for j in range(2))) for row in range(3)]


def test_cells_do_not_steer_the_terminal() -> None:
    rows = [("name", "size"), ("\x1b[31mred", "1\n2")]
    shown = [columns(rows), narrow(rows), html_table(rows[0], rows[1:], above="\x1b]0;title\x07", below="\r")]
    assert all(not set(text) & {"\x1b", "\x07", "\r"} for text in shown)
    assert columns(rows).splitlines() == ["name         size", "\\x1b[31mred  1\\n2"]


def test_what_is_wider_than_a_terminal_is_cut_between_pairs() -> None:
    text = narrow([HEAD, *ROWS], right=range(1, 13), together=2)
    tables = [[line.split() for line in part.splitlines()] for part in text.split("\n\n")]
    assert max(map(len, text.splitlines())) <= 80
    assert [table[0] for table in tables] == [
        ["unit", *HEAD[1:9]],
        ["unit", *HEAD[9:]],
    ]
    assert [row[0] for row in tables[1][1:]] == ["0", "1", "2"]
    assert [cell for table in tables for cell in table[2][1:]] == list(ROWS[1][1:])


def test_one_column_may_be_wider() -> None:
    wide = [("step", "x" * 100, "y"), ("1", "2", "3")]
    first, second = narrow(wide).split("\n\n")
    assert first.splitlines()[0] == f"step  {'x' * 100}"
    assert second.splitlines() == ["step  y", "1     3"]
    assert narrow([("step",), ("1",)]) == "step\n1"


def test_html_is_well_formed_whatever_is_in_it() -> None:
    page = ElementTree.fromstring(html_table(("a<b", "n"), [("x\n& y", "1")], right=(1,), above="<t>", below="&"))
    assert ["".join(cell.itertext()) for cell in page.iter("td")] == ["x& y", "1"]
    assert [cell.get("style") for cell in page.iter("td")] == ["text-align:left", "text-align:right"]
    assert [line.text for line in page.iter("p")] == ["<t>", "&"]
    assert len(list(page.iter("br"))) == 1
