"""The command: `python -m benchmarks [bench|growth|scaling|profile|report]`; `make bench` and the like call it."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import ROOT
from benchmarks.report import PAGES, profile_words, render
from benchmarks.results import load, save
from benchmarks.rows import Row, choose_rows
from benchmarks.runner import Runner, Settings, machine, usable_cores


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, and writes results.json and the pages; `report` writes the pages, `profile` prints."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures Lightwell beside its peers.")
    parser.add_argument("what", nargs="?", default="bench", choices=[*PAGES, "profile", "report"])
    parser.add_argument("--rows", default="", help="keys of rows, with commas between; else all of the page")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender has its turn")
    parser.add_argument("--seconds", type=float, default=1.5, help="how long one measurement should take")
    parser.add_argument("--threads", type=int, default=2, help="how many cores every process is pinned to")
    parser.add_argument("--quick", action="store_true", help="tiny data, to see that everything runs")
    parser.add_argument("--out", default="", help="where to write; this folder, or a temporary one for a quick run")
    parser.add_argument("--python", default="", help="an interpreter that has all peers, instead of their environments")
    options = parser.parse_args(arguments)
    try:
        rows = choose_rows([key for key in options.rows.split(",") if key], options.what)
    except LookupError as error:
        parser.error(str(error.args[0]))
    if options.what == "profile" and not rows:
        parser.error("Name a row: make bench-profile ROW=mlp.")
    default = tempfile.mkdtemp(prefix="bench-") if options.quick else ROOT / "benchmarks"
    out = Path(options.out or default)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as scratch:
        seconds, cores = 0.05 if options.quick else options.seconds, usable_cores(options.threads)
        settings = Settings(options.rounds, seconds, options.quick, cores, scratch, options.python)
        with contextlib.closing(Runner(settings)) as runner:
            if options.what == "profile":
                print(profile_words(rows[0], runner.profile(rows[0])))
                return
            if options.what != "report":
                _measure(runner, rows, options.what, out / "results.json")
    results = load(out / "results.json")
    for page, (file, *_) in PAGES.items():
        text = render(page, results)
        if text:
            (out / file).write_text(text, encoding="utf-8")
            print(f"Written: {out / file}")


def _measure(runner: Runner, rows: Sequence[Row], what: str, path: Path) -> None:
    """One run. Every row is saved at once: an interrupted run loses only the row that it was at."""
    info, settings, results, started = machine(), runner.settings, load(path), time.monotonic()
    if info["load_before"] > 0.5 * info["cores"]:
        print(f"The machine is busy (load {info['load_before']:g}): the figures will not be worth much.")
    info |= {"rounds": settings.rounds, "seconds": settings.seconds, "is_quick": settings.is_quick}
    info |= {"used_cores": list(settings.cores), "versions": runner.versions}
    run = f"{what} {info['date']}"
    for row in rows:
        figures = runner.measure(row, run)
        results.add(row.key, figures, run, {**info, "elapsed": round(time.monotonic() - started, 1)})
        save(results, path)


if __name__ == "__main__":
    main()
