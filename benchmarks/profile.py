"""Where the time of a row goes: `make bench-profile ROW=mlp` writes `profiles/mlp.md`.

Runs Lightwell's side of the row under `cProfile`, in the same environment as the bench: of a training only the
measured steps, of everything else the whole measurement. It sees the Python of the calling thread; what TensorFlow's
runtime does below is one line, "TensorFlow's runtime".
"""

from __future__ import annotations

import argparse
import cProfile
import dataclasses
import pstats
import subprocess
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, python_of
from benchmarks.live import environment_for
from benchmarks.machine import usable_cores
from benchmarks.peers import OURS, PEERS, split
from benchmarks.rows import ROWS, Row

_MOST_SHOWN = 15
_OWNERS = (  # the first that is part of the file's name owns the function
    ("/benchmarks/", "the bench itself"),
    ("/lightwell/", "Lightwell"),
    ("/tensorflow/", "TensorFlow's Python"),
    ("/numpy/", "NumPy"),
)


def main() -> None:
    """Starts the profile in Lightwell's environment, or (with `--inside`) makes it."""
    keys = [row.key for row in ROWS if row.contenders]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile", description="Tells where the time goes.")
    parser.add_argument("row", choices=keys, help="the row")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to measure")
    parser.add_argument("--quick", action="store_true", help="tiny data, to see that it runs")
    parser.add_argument("--out", default=str(ROOT / "benchmarks" / "profiles"), help="the folder to write to")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        row = next(row for row in ROWS if row.key == asked.row)
        Path(asked.out).mkdir(parents=True, exist_ok=True)
        path = Path(asked.out) / f"{row.key}.md"
        path.write_text(_page(row, _profiled(row, asked.seconds, asked.quick)), encoding="utf-8")
        print(f"Written: {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
        return
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        words = [asked.row, "--inside", "--seconds", str(asked.seconds), "--out", asked.out]
        subprocess.run(
            [str(python_of(PEERS[OURS].environment)), "-m", "benchmarks.profile", *words, *["--quick"] * asked.quick],
            cwd=ROOT,
            env=dict(environment_for(usable_cores(2), scratch)),
            check=True,
        )


def _profiled(row: Row, seconds: float, is_quick: bool) -> pstats.Stats:
    """Runs the row once under the profiler."""
    from benchmarks.workers import estimator_pieces, ours
    from benchmarks.workers.protocol import Plan

    profiler = cProfile.Profile()
    is_training = row.unit == "steps/s" and row.kind == "per_second"
    measure = ours.worker.prepare(row.key, Plan(split(row.ours)[1], seconds, is_quick=is_quick))
    if is_training:  # prepared again, with a clock that also switches the profiler
        ours.API = dataclasses.replace(ours.API, stamp=lambda steps, times: _switch(profiler, steps, times))
        estimator_pieces.register(ours.worker, ours.API)
        measure = ours.worker.prepare(row.key, Plan(split(row.ours)[1], seconds, is_quick=is_quick))
        profiler.clear()
        measure()
    else:
        profiler.runcall(measure)
    return pstats.Stats(profiler)


def _switch(profiler: cProfile.Profile, steps: Sequence[int], times: list[float]) -> Any:
    """A hook that notes the time, and profiles from the first of the steps to the last."""
    import time

    import lightwell as lw

    def noted(step: Any) -> None:
        times.append(time.perf_counter())
        (profiler.enable if len(times) == 1 else profiler.disable)()

    return lw.Watch("global_step", at=list(steps), do=noted)


def _page(row: Row, stats: pstats.Stats) -> str:
    """The summary as Markdown."""
    functions = [(name, *numbers[:4]) for name, numbers in stats.stats.items()]  # type: ignore[attr-defined]
    whole = sum(own for _, _, _, own, _ in functions) or 1e-9
    shares: dict[str, float] = {}
    for name, _, _, own, _ in functions:
        shares[_owner(name)] = shares.get(_owner(name), 0.0) + own
    lines = [f"# Where the time goes: {row.title}", "", f"`{row.key}`: {whole:.2f} s of the calling thread.", ""]
    lines += ["| whose code | share |", "|---|---|"]
    lines += [f"| {owner} | {own / whole:.1%} |" for owner, own in sorted(shares.items(), key=lambda item: -item[1])]
    by_own = sorted(functions, key=lambda function: -function[3])[:_MOST_SHOWN]
    lines += ["", "| own time | calls | function |", "|---|---|---|"]
    lines += [f"| {own / whole:.1%} | {calls:,} | {_shown(name)} |" for name, _, calls, own, _ in by_own]
    ours = [function for function in functions if _owner(function[0]) == "Lightwell"]
    lines += ["", "| time with callees | calls | function of Lightwell |", "|---|---|---|"]
    by_all = sorted(ours, key=lambda function: -function[4])[:_MOST_SHOWN]
    lines += [f"| {total / whole:.1%} | {calls:,} | {_shown(name)} |" for name, _, calls, _, total in by_all]
    return "\n".join(lines) + "\n"


def _owner(function: tuple[str, int, str]) -> str:
    file, _, name = function
    if file == "~":
        is_runtime = "tensorflow" in name or "pywrap" in name
        return "TensorFlow's runtime" if is_runtime else "Python and other libraries"
    return next((owner for part, owner in _OWNERS if part in file), "Python and other libraries")


def _shown(function: tuple[str, int, str]) -> str:
    file, line, name = function
    if file == "~":
        return f"`{name}`"
    for root in (f"{sysconfig.get_path('stdlib')}/", "/site-packages/", "/src/"):
        file = file.rpartition(root)[2] if root in file else file
    return f"`{name}` {file.removeprefix(str(ROOT) + '/')}:{line}".replace("|", "\\|")


if __name__ == "__main__":
    main()
