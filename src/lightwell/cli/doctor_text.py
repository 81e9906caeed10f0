"""The report of `lightwell doctor` for people: tables in colour on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightwell.cli.doctor_names import State
from lightwell.cli.doctor_read import NameReport, Problem, Report

_TITLES = {
    State.ABSENT.value: ("absent: these stop the program", "red"),
    State.PACKAGE.value: ("in a package that is not installed", "yellow"),
    State.LIGHTWELL.value: ("from Lightwell, under `lightwell run`", "cyan"),
    State.TENSORFLOW.value: ("in TensorFlow as they are", "green"),
}
_KINDS = {
    "python": ("too old for this Python", "red"),
    "numpy": ("removed from NumPy", "yellow"),
    "module": ("modules that are not installed", "yellow"),
}
_WIDTH = 120


@dataclass(frozen=True)
class _Section:
    """A table: title, colour, and rows of name, first use, number of uses and advice."""

    title: str
    colour: str
    rows: tuple[tuple[str, str, str, str], ...]


def plain(report: Report) -> str:
    """The report as lines of text."""
    parts = [headline(report)]
    for section in _sections(report):
        parts.append("\n".join([f"{section.title} ({len(section.rows)})", *_lines(section.rows)]))
    return "\n\n".join([*parts, "\n".join(summary(report))])


def show_on_terminal(report: Report) -> None:
    """Print the report with colours."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(headline(report), style="bold"))
    for section in _sections(report):
        table = Table(title=f"{section.title} ({len(section.rows)})", title_justify="left", title_style=section.colour)
        columns: Sequence[dict[str, Any]] = ({"overflow": "fold"}, {"overflow": "fold"}, {"justify": "right"}, {})
        for name, options in zip(("name", "first use", "uses", "what to do"), columns, strict=True):
            table.add_column(name, **options)
        for row in section.rows:
            table.add_row(*map(Text, row))
        console.print()
        console.print(table)
    console.print()
    for line in summary(report):
        console.print(Text(line))


def headline(report: Report) -> str:
    """What was read."""
    others = len(report.files) - 1
    files = report.program if others < 1 else f"{report.program} and {others} more of its own files"
    spelled = f"TensorFlow {report.version} spelling"
    here = f"TensorFlow {report.tensorflow} is here" if report.tensorflow else "no TensorFlow is installed here"
    return f"{files}: {spelled}; {here}"


def summary(report: Report) -> Iterator[str]:
    """The count, and what to run next."""
    states = Counter(row.state for row in report.names)
    kinds = Counter(problem.kind for problem in report.problems)
    counted = [
        f"{states[State.TENSORFLOW.value]} in TensorFlow",
        f"{states[State.LIGHTWELL.value]} from Lightwell",
        *([f"{states[State.PACKAGE.value]} in a package to install"] if states[State.PACKAGE.value] else []),
        f"{states[State.ABSENT.value]} absent",
    ]
    yield f"{len(report.names)} names of TensorFlow: {', '.join(counted)}."
    if kinds:
        words = {"python": "too old for this Python", "numpy": "removed from NumPy", "module": "modules not installed"}
        yield f"Besides: {', '.join(f'{count} {words[kind]}' for kind, count in kinds.items())}."
    if report.stops == 0 or report.needs_old_python:
        options = "--old-python " if report.needs_old_python else ""
        yield f"Nothing{' else' if options else ''} stops it. Next: lightwell run {options}{report.program}"
    else:
        count = "1 thing stops it" if report.stops == 1 else f"{report.stops} things stop it"
        yield f"{count}; begin with the first table."


def _sections(report: Report) -> Iterator[_Section]:
    for kind, (title, colour) in _KINDS.items():
        rows = tuple(_problem(one) for one in report.problems if one.kind == kind)
        if rows:
            yield _Section(title, colour, rows)
    for state, (title, colour) in _TITLES.items():
        rows = tuple(_name(row) for row in report.names if row.state == state)
        if rows:
            yield _Section(title, colour, rows)


def _name(row: NameReport) -> tuple[str, str, str, str]:
    uses = str(row.uses) if row.uses else "imported"
    stops = row.state in (State.ABSENT.value, State.PACKAGE.value)
    advice = f"{row.advice} (behind a check: the program goes on)" if stops and row.checked else row.advice
    return row.name, row.first, uses, advice


def _problem(problem: Problem) -> tuple[str, str, str, str]:
    return problem.what, problem.first, str(problem.uses), problem.advice


def _lines(rows: Sequence[tuple[str, str, str, str]]) -> Iterator[str]:
    """Rows in columns; advice wraps in its own column."""
    name, place, uses = (max(len(row[column]) for row in rows) for column in range(3))
    width = max(min(_WIDTH, shutil.get_terminal_size((_WIDTH, 1)).columns) - name - place - uses - 8, 40)
    for row in rows:
        start = f"  {row[0]:<{name}}  {row[1]:<{place}}  {row[2]:>{uses}}"
        first, *more = textwrap.wrap(row[3], width) or [""]
        yield f"{start}  {first}".rstrip()
        yield from (f"{' ' * (name + place + uses + 8)}{line}" for line in more)
