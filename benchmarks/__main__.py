"""The command: `python -m benchmarks [bench|growth|report]`; `make bench` and `make bench-growth` call it."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import charts, growth, machine
from benchmarks.environments import ROOT
from benchmarks.peers import OURS, PEERS
from benchmarks.progress import reporting
from benchmarks.report import render
from benchmarks.results import BUILT_SINCE, NOT_BUILT, GrowthPoint, Results, RowResult, load, save
from benchmarks.rounds import Crew, Settings, crew, measure_row
from benchmarks.rows import Row, chosen

HERE = ROOT / "benchmarks"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, and writes what came of it."""
    asked = _parsed(arguments)
    out = Path(asked.out) if asked.out else Path(tempfile.mkdtemp(prefix="bench-")) if asked.quick else HERE
    out.mkdir(parents=True, exist_ok=True)
    before = load(out / "results.json")
    if asked.what == "report":
        after = before
    else:
        measure = _measure_rows if asked.what == "bench" else _measure_growth
        after = before.updated(_run(asked, measure))
        save(after, out / "results.json")
    charts.draw(after, out / "images")
    page = render(after, out / "profiles")
    (out / "RESULTS.md").write_text(page, encoding="utf-8")
    print(f"Written: {_shown(out / 'RESULTS.md')}")


def _run(asked: argparse.Namespace, measure: Callable[[argparse.Namespace, Settings, str], Any]) -> Results:
    """One run: its settings, its measurements, and what it was made on."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as scratch:
        seconds = 0.05 if asked.quick else asked.seconds
        settings = Settings(asked.rounds, seconds, asked.quick, machine.usable_cores(asked.threads), scratch)
        info = machine.describe(settings.cores)
        if info["load_before"] > 0.5 * info["cores"]:
            print(f"The machine is busy (load {info['load_before']:g}): the figures will not be worth much.")
        name, started = f"{asked.what} {info['date']}", time.monotonic()
        results, workers = measure(asked, settings, name)
    versions = {worker: _versions(about) for worker, about in sorted(workers.about.items(), key=_order)}
    told = {"rounds": asked.rounds, "seconds": seconds, "is_quick": asked.quick, "versions": versions}
    run = {**info, **told, "elapsed": round(time.monotonic() - started, 1)}
    return Results({name: run}, results.rows, results.growth, results.growth_runs)


def _measure_rows(asked: argparse.Namespace, settings: Settings, name: str) -> tuple[Results, Crew]:
    rows = chosen([key for key in asked.rows.split(",") if key])
    total = sum(row.rounds_of(settings.rounds) * len(row.contenders) for row in rows)
    with reporting(total) as report, crew(settings, report) as workers:
        results = {row.key: _row_result(row, workers, name) for row in rows}
    return Results(rows=results), workers


def _row_result(row: Row, workers: Crew, name: str) -> RowResult:
    if not row.waits_for:
        return RowResult(name, measure_row(row, workers))
    if OURS not in workers.about:
        workers.worker(PEERS[OURS])
    is_built = row.waits_for in workers.about[OURS]["has"]
    return RowResult(name, state=BUILT_SINCE if is_built else NOT_BUILT)


def _measure_growth(asked: argparse.Namespace, settings: Settings, name: str) -> tuple[Results, Crew]:
    total = sum(len(axis.sizes) * len(axis.contenders) for axis in growth.AXES)
    found: list[GrowthPoint] = []
    with reporting(total) as report, crew(settings, report) as workers:
        for point in growth.points(workers):
            found.append(growth.measure_point(*point, workers))
    return Results(growth=tuple(found), growth_runs={axis.key: name for axis in growth.AXES}), workers


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures Lightwell beside its peers.")
    parser.add_argument("what", nargs="?", default="bench", choices=["bench", "growth", "report"])
    parser.add_argument("--rows", default="", help="keys of rows, with commas between; all of them if not given")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender has its turn")
    parser.add_argument("--seconds", type=float, default=1.5, help="how long one measurement should take")
    parser.add_argument("--threads", type=int, default=2, help="how many cores every process is pinned to")
    parser.add_argument("--quick", action="store_true", help="tiny data, to see that everything runs")
    parser.add_argument("--out", default="", help="where to write; this folder, or a temporary one for a quick run")
    asked = parser.parse_args(arguments)
    try:
        chosen([key for key in asked.rows.split(",") if key])
    except LookupError as error:
        parser.error(str(error.args[0]))
    return asked


def _versions(about: dict[str, Any]) -> dict[str, str]:
    own = {"lightwell": about["lightwell"]} if "lightwell" in about else {}
    return {**own, **about["versions"]}


def _order(item: tuple[str, Any]) -> int:
    return list(PEERS).index(item[0])


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


if __name__ == "__main__":
    main()
