"""Which tests `make test` leaves to `make test-all`: whole programs, further cases of a table, and what takes long.

`tests/data/thorough.txt` names the tests that took more than `SECONDS`, outside of contracts, stories and fuzz, which
`make test` always runs. To measure them again: `make test-all ARGS=--junitxml=times.xml`, on a quiet machine, then
`python -m tests.thorough times.xml`. A new test is brief until it is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

SECONDS = 1.5
LIST = Path(__file__).parent / "data" / "thorough.txt"
# Pages, examples and programs that are run from top to bottom.
_WHOLE = ("tests/docs/", "tests/examples/", "tests/programs/")
# Whole programs that `make test` runs all the same.
_ONE_OF_EACH = ("tests/programs/test_styles.py::test_one_of_each_style",)
_ALWAYS = ("tests/contracts/", "tests/stories/", "tests/fuzz/")


def brief_selection(node_ids: Sequence[str]) -> list[bool]:
    """Which of the tests `make test` runs: the first case of every table that is not thorough."""
    thorough = set(LIST.read_text().split())
    seen: set[str] = set()
    selection = []
    for node_id in node_ids:
        table = node_id.partition("[")[0]
        is_whole = table.startswith(_WHOLE) and table not in _ONE_OF_EACH
        selection.append(table not in seen and table not in thorough and not is_whole)
        seen.add(table)
    return selection


def long_tests(report: str) -> list[str]:
    """The tests of a JUnit report whose first case took long."""
    first: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        module, *classes = case.get("classname", "").partition(".Test")[::2]
        scope = "".join(f"Test{name}::" for name in classes if name)
        if case.get("name"):
            table = f"{module.replace('.', '/')}.py::{scope}{case.get('name', '').partition('[')[0]}"
            first.setdefault(table, float(case.get("time", 0)))
    return sorted(name for name, seconds in first.items() if seconds > SECONDS and not name.startswith(_ALWAYS))


if __name__ == "__main__":
    LIST.write_text("\n".join(name for name in long_tests(sys.argv[1]) if not name.startswith(_WHOLE)) + "\n")
