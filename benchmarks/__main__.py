"""The command: `python -m benchmarks [bench|growth|scaling|profile|report]`; `make bench` and the like call it."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers import ROOT
from benchmarks.report import PAGES, PROFILES, judge, profile_words, render, trace_words
from benchmarks.results import Figures, load, save
from benchmarks.rows import Row, choose_rows
from benchmarks.runner import Runner, Settings, machine, usable_cores
from benchmarks.waves import Waves, cores_beside


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, and writes results.json and the pages; `report` writes the pages, `profile` prints."""
    started = time.monotonic()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures Lightwell beside its peers.")
    parser.add_argument("what", nargs="?", default="bench", choices=[*PAGES, "profile", "report"])
    parser.add_argument("--rows", default="", help="keys of rows, with commas between; else all of the page")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender has its turn")
    parser.add_argument("--turn", type=float, default=1.5, help="how many seconds one measurement should take")
    parser.add_argument("--seconds", type=float, help="a limit for the whole of `gpu`: the last rows are left out")
    parser.add_argument("--profiles", action="store_true", help="profile our side of GPU rows that miss a goal")
    parser.add_argument(
        "--threads", type=int, help="how many cores every process is pinned to; 2, of `gpu` half of all"
    )
    parser.add_argument("--quick", action="store_true", help="tiny data, to see that everything runs")
    parser.add_argument("--out", default="", help="where to write; this folder, or a temporary one for a quick run")
    parser.add_argument("--python", default="", help="an interpreter that has all peers, instead of their environments")
    options = parser.parse_args(arguments)
    try:
        rows = choose_rows([key for key in options.rows.split(",") if key], options.what)
        rows = [row for row in rows if row.page == "gpu"] if options.what == "gpu" else rows
    except LookupError as error:
        parser.error(str(error.args[0]))
    if options.what == "profile" and not rows:
        parser.error("Name a row: make bench-profile ROW=mlp.")
    default = tempfile.mkdtemp(prefix="bench-") if options.quick else ROOT / "benchmarks"
    out = Path(options.out or default)
    out.mkdir(parents=True, exist_ok=True)
    many = len(usable_cores(10_000))
    cores = usable_cores(options.threads or (max(many // 2, min(many, 2)) if options.what == "gpu" else 2))
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as scratch:
        turn = 0.05 if options.quick else options.turn
        others = cores_beside(cores) if options.what == "gpu" else ()
        settings = Settings(options.rounds, turn, options.quick, cores, scratch, options.python, others)
        with contextlib.closing(Runner(settings)) as runner:
            if options.what == "profile":
                print(profile_words(rows[0], runner.profile(rows[0])))
                return
            if options.what == "gpu":
                deadline = None if options.seconds is None else started + options.seconds
                _measure_in_waves(runner, rows, out, deadline, is_profiled=options.profiles)
            elif options.what != "report":
                _measure(runner, rows, options.what, out / "results.json")
    _write_pages(out, PAGES)
    for file in (file for file, *_ in PAGES.values() if (out / file).exists()):
        print(f"Written: {out / file}")


def _write_pages(out: Path, pages: Iterable[str]) -> None:
    results = load(out / "results.json")
    for page in pages:
        text = render(page, results)
        if text:
            (out / PAGES[page][0]).write_text(text, encoding="utf-8")


def _measure(runner: Runner, rows: Sequence[Row], what: str, path: Path) -> None:
    """One run. Every row is saved at once: an interrupted run loses only the row that it was at."""
    info, results, started = _info(runner), load(path), time.monotonic()
    run = f"{what} {info['date']}"
    for row in (row for row in rows if not row.of):
        sharing = [other for other in rows if other.of == row.key]
        for key, figures in runner.measure(row, run, sharing).items():
            results.add(key, figures, run, {**info, "elapsed": round(time.monotonic() - started, 1)})
        save(results, path)


def _measure_in_waves(
    runner: Runner, rows: Sequence[Row], out: Path, deadline: float | None, *, is_profiled: bool
) -> None:
    """One run on a GPU. Every row is saved at once, and its page is written."""
    info, path, started = _info(runner), out / "results.json", time.monotonic()
    results, run = load(path), f"gpu {info['date']}"
    profiled: list[str] = []  # keys of rows

    def save_row(key: str, figures: dict[str, Figures]) -> None:
        results.add(key, figures, run, {**info, "elapsed": round(time.monotonic() - started, 1)})
        save(results, path)
        _write_pages(out, ["gpu"])

    def profile(row: Row, figures: dict[str, Figures], contender: str, trace: Callable[[], dict[str, Any]]) -> None:
        missed = [goal.by or row.ours for goal in row.goals if judge(goal, row, figures)[0] == "missed"]
        if is_profiled and contender in missed:
            words = trace_words(row, contender, run, trace())
            with open(out / PROFILES, "w" if not profiled else "a", encoding="utf-8") as file:
                file.write(words)
            profiled.append(row.key)

    left = Waves(runner, run, deadline, save_row, profile).measure(rows)
    if left:
        print(f"No time was left for {', '.join(left)}.")


def _info(runner: Runner) -> dict[str, Any]:
    """What the results say of a run."""
    info, settings = machine(), runner.settings
    if info["load_before"] > 0.5 * info["cores"]:
        print(f"The machine is busy (load {info['load_before']:g}): the figures will not be worth much.")
    info |= {"rounds": settings.rounds, "seconds": settings.seconds, "is_quick": settings.is_quick}
    return info | {"used_cores": list(settings.cores), "versions": runner.versions}


if __name__ == "__main__":
    main()
