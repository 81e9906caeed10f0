"""The command: `python -m benchmarks [bench|growth|report]`; `make bench` and `make bench-growth` call it."""

from __future__ import annotations

import argparse
import functools
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import charts, growth, machine
from benchmarks.environments import ROOT
from benchmarks.growth_report import render_growth
from benchmarks.peers import PEERS
from benchmarks.progress import reporting
from benchmarks.report import render
from benchmarks.results import Results, RowResult, load, save
from benchmarks.rounds import Crew, Settings, crew, measure_row
from benchmarks.rows import ROWS, chosen

HERE = ROOT / "benchmarks"
Parts = Callable[[Crew], Iterator[Results]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, and writes what came of it."""
    asked = _parsed(arguments)
    out = Path(asked.out) if asked.out else Path(tempfile.mkdtemp(prefix="bench-")) if asked.quick else HERE
    out.mkdir(parents=True, exist_ok=True)
    pages = PAGES if asked.what == "report" else (_page(asked),)
    if asked.what != "report":
        with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as scratch:
            _measure(asked, out / pages[0].kept_in, scratch)
    for page in pages:
        results = load(out / page.kept_in).with_all({row.key: row.contenders for row in ROWS})
        if results.runs:
            charts.draw(results, out / "images")
            (out / page.file).write_text(page.render(results, out / "profiles"), encoding="utf-8")
            print(f"Written: {_shown(out / page.file)}")


@dataclass(frozen=True)
class Page:
    """One page of results: its file, the file of its raw numbers, and what makes the one of the other."""

    file: str
    kept_in: str
    render: Callable[[Results, Path], str]


_RESULTS = Page("RESULTS.md", "results.json", render)
_BIG = Page("BIG.md", "big.json", functools.partial(render, is_big=True))
_GROWTH = Page("GROWTH.md", "growth.json", lambda results, _: render_growth(results))
PAGES = (_RESULTS, _BIG, _GROWTH)


def _page(asked: argparse.Namespace) -> Page:
    if asked.what == "growth":
        return _GROWTH
    return _BIG if chosen(_keys(asked))[0].is_big else _RESULTS


def _measure(asked: argparse.Namespace, path: Path, scratch: str) -> None:
    """One run. What is measured is kept at once: a run that is interrupted loses only what it was at."""
    seconds = 0.05 if asked.quick else asked.seconds
    settings = Settings(asked.rounds, seconds, asked.quick, machine.usable_cores(asked.threads), scratch)
    info = machine.describe(settings.cores)
    if info["load_before"] > 0.5 * info["cores"]:
        print(f"The machine is busy (load {info['load_before']:g}): the figures will not be worth much.")
    name, started = f"{asked.what} {info['date']}", time.monotonic()
    parts, total = _rows(asked, name) if asked.what == "bench" else _growth(asked, name)
    results = load(path)
    with reporting(total) as report, crew(settings, report) as workers:
        for part in parts(workers):
            versions = {worker: _versions(about) for worker, about in sorted(workers.about.items(), key=_order)}
            told = {"rounds": asked.rounds, "seconds": seconds, "is_quick": asked.quick, "versions": versions}
            run = {**info, **told, "elapsed": round(time.monotonic() - started, 1)}
            results = results.updated(replace(part, runs={name: run}))
            save(results, path)


def _rows(asked: argparse.Namespace, name: str) -> tuple[Parts, int]:
    """The rows, one by one, and how many measurements they take."""
    rows = chosen(_keys(asked))

    def parts(workers: Crew) -> Iterator[Results]:
        for row in rows:
            yield Results(rows={row.key: RowResult(name, measure_row(row, workers))})

    return parts, sum(row.rounds_of(asked.rounds) * len(row.contenders) for row in rows)


def _growth(asked: argparse.Namespace, name: str) -> tuple[Parts, int]:
    """The points of the axes, one by one, and how many there are."""
    sizes = [int(size) for size in asked.sizes.split(",") if size]
    points = [
        (axis, *point)
        for axis in growth.axes_of(_keys(asked))
        for point in growth.points_of(axis, is_quick=asked.quick, only=sizes)
    ]

    def parts(workers: Crew) -> Iterator[Results]:
        for axis, contender, size in points:
            yield Results(growth=(growth.measure_point(axis, contender, size, workers, name),))

    return parts, len(points)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures Lightwell beside its peers.")
    parser.add_argument("what", nargs="?", default="bench", choices=["bench", "growth", "report"])
    parser.add_argument("--rows", default="", help="keys of rows (of axes), with commas between; else all")
    parser.add_argument("--sizes", default="", help="sizes along the axes of growth, with commas between; else all")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender has its turn")
    parser.add_argument("--seconds", type=float, default=1.5, help="how long one measurement should take")
    parser.add_argument("--threads", type=int, default=2, help="how many cores every process is pinned to")
    parser.add_argument("--quick", action="store_true", help="tiny data, to see that everything runs")
    parser.add_argument("--out", default="", help="where to write; this folder, or a temporary one for a quick run")
    asked = parser.parse_args(arguments)
    try:
        rows = () if asked.what == "growth" and growth.axes_of(_keys(asked)) else chosen(_keys(asked))
    except LookupError as error:
        parser.error(str(error.args[0]))
    if len({row.is_big for row in rows}) > 1:
        parser.error("The rows of big models have a page of their own: measure them by themselves.")
    return asked


def _keys(asked: argparse.Namespace) -> list[str]:
    return [key for key in asked.rows.split(",") if key]


def _versions(about: dict[str, Any]) -> dict[str, str]:
    own = {"lightwell": about["lightwell"]} if "lightwell" in about else {}
    return {**own, **about["versions"]}


def _order(item: tuple[str, Any]) -> int:
    return list(PEERS).index(item[0])


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


if __name__ == "__main__":
    main()
