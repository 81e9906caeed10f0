"""Tables: no wider than a terminal, in text and in HTML."""

from __future__ import annotations

from xml.etree import ElementTree

from lightwell.base.tables import Cell, Table

HEAD = ("unit", *(f"metric_{i}" if j == 0 else "change" for i in range(6) for j in range(2)))
ROWS = [(str(row), *(f"{row}.{i}" if j == 0 else f"+{i}" for i in range(6) for j in range(2))) for row in range(3)]


def test_cells_do_not_steer_the_terminal() -> None:
    table = Table(("name", "size"), [("\x1b[31mred", "1\n2")], title="\x1b]0;title\x07", note="\r")
    assert all(not set(text) & {"\x1b", "\x07", "\r"} for text in (table.text(), table.text(80), table.html()))
    assert table.lines() == ["name         size", "\\x1b[31mred  1\\n2"]


def test_what_is_wider_than_a_terminal_is_cut_between_pairs() -> None:
    text = Table(HEAD, ROWS, right=range(1, 13), group=2).text(80)
    tables = [[line.split() for line in part.splitlines()] for part in text.split("\n\n")]
    assert max(map(len, text.splitlines())) <= 80
    assert [table[0] for table in tables] == [
        ["unit", *HEAD[1:9]],
        ["unit", *HEAD[9:]],
    ]
    assert [row[0] for row in tables[1][1:]] == ["0", "1", "2"]
    assert [cell for table in tables for cell in table[2][1:]] == list(ROWS[1][1:])


def test_one_column_may_be_wider() -> None:
    first, second = Table(("step", "x" * 100, "y"), [("1", "2", "3")]).text(80).split("\n\n")
    assert first.splitlines()[0] == f"step  {'x' * 100}"
    assert second.splitlines() == ["step  y", "1     3"]
    assert Table(("step",), [("1",)]).text(80) == "step\n1"


def test_html_is_well_formed_whatever_is_in_it() -> None:
    page = ElementTree.fromstring(Table(("a<b", "n"), [("x\n& y", "1")], right=(1,), title="<t>", note="&").html())
    assert ["".join(cell.itertext()) for cell in page.iter("td")] == ["x& y", "1"]
    assert [cell.get("style") for cell in page.iter("td")] == ["text-align:left", "text-align:right"]
    assert [line.text for line in page.iter("p")] == ["<t>", "&"]
    assert len(list(page.iter("br"))) == 1


def test_columns_line_up() -> None:
    assert Table((), [("a", "1"), ("long", "22")], right=[1]).text() == "a      1\nlong  22"
    assert Table((), []).text() == ""


def test_fixed_widths_cut_longer_cells() -> None:
    assert Table(("name", "n"), [("longer", "1")], right=(1,), widths=(4, 3)).lines() == ["name   n", "lon…   1"]


def test_a_rule_is_as_wide_as_the_table() -> None:
    table = Table(("a", "b"), [("1", "22")])
    assert table.ruled_lines() == ("a  b", "─────", ["1  22"])
    assert len(table.ruled_lines(9)[1]) == 9


def test_names_are_cut_to_what_other_columns_leave() -> None:
    table = Table(("name", "size"), [("scope/dense/kernel", "10")]).fitted(16, 4)
    assert table.lines() == ["name        size", "…se/kernel  10"]


def test_html_of_a_cell_may_say_more() -> None:
    page = ElementTree.fromstring(Table(("path",), [(Cell("a<b", indent=2, tooltip="c&d"),)]).html())
    cell = next(page.iter("td"))
    assert cell.get("style") == "text-align:left;padding-left:2em"
    assert [span.get("title") for span in page.iter("span")] == ["c&d"]
    assert "".join(cell.itertext()) == "a<b"
