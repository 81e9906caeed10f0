"""What a worker and the bench say to each other: a line of JSON each way, over stdin and stdout.

Owns the loop of a worker, the clock, the resident memory. Takes requests (`about`, `prepare`, `measure`, `forget`),
gives answers such as `{"row": "mlp", "variant": "fit", "per_second": 407.1}` or `{"row": "mlp", "error": "…"}`.
Needs the standard library and NumPy alone: it runs in the environment of every peer.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

Figures = dict[str, Any]
Measure = Callable[[], Figures]


@dataclass(frozen=True)
class Plan:
    """How a piece of work is to be measured.

    Attributes:
        variant: which of a peer's ways to do it; "" where there is one.
        seconds: how long one measurement should take.
        size: where the growth with a size is measured, the size.
        is_quick: tiny data and few repetitions, to see that everything runs; the figures mean nothing.
    """

    variant: str = ""
    seconds: float = 1.5
    size: int = 0
    is_quick: bool = False

    def scaled(self, full: int, quick: int) -> int:
        """A count of rows or repetitions: the full one, or the one for a quick run."""
        return quick if self.is_quick else full


Prepare = Callable[[Plan], Measure]


@dataclass
class Worker:
    """The pieces of work one peer can do.

    Args:
        packages: the installed packages whose versions matter.
        about: more to say of itself, computed on request.
    """

    packages: tuple[str, ...]
    about: Callable[[], Figures] = dict
    _pieces: dict[tuple[str, str], Prepare] = field(default_factory=dict)

    def piece(self, row: str, *variants: str) -> Callable[[Prepare], Prepare]:
        """Registers a function that prepares the work of a row, warm-up included, and returns what measures it once."""

        def register(prepare: Prepare) -> Prepare:
            for variant in variants or ("",):
                self._pieces[row, variant] = prepare
            return prepare

        return register

    def prepare(self, row: str, plan: Plan) -> Measure:
        """Makes a piece of work ready.

        Raises:
            LookupError: this peer does not know the piece.
        """
        if (row, plan.variant) not in self._pieces:
            known = ", ".join("/".join(filter(None, piece)) for piece in self._pieces)
            raise LookupError(f"No piece {row!r} with variant {plan.variant!r}; there are {known}.")
        return self._pieces[row, plan.variant](plan)

    def serve(self) -> None:
        """Answers requests until stdin ends."""
        answers = _private_stdout()
        ready: dict[tuple[str, str], Measure] = {}
        for line in sys.stdin:
            request = json.loads(line)
            try:
                answer = self._answer(request, ready)
            except Exception as error:  # a peer that fails in one row goes on with the next
                traceback.print_exc()
                answer = {"error": told(error)}
            piece = {key: request[key] for key in ("row", "variant") if key in request}
            answers.write(json.dumps({**piece, **answer}) + "\n")
            answers.flush()

    def _answer(self, request: Figures, ready: dict[tuple[str, str], Measure]) -> Figures:
        if request["do"] == "about":
            return {"versions": _versions(self.packages), **self.about()}
        key = request["row"], request["variant"]
        if request["do"] == "prepare":
            ready[key] = self.prepare(
                key[0], Plan(key[1], *(request[name] for name in ("seconds", "size", "is_quick")))
            )
            return {}
        if request["do"] == "measure":
            gc.collect()
            return ready[key]()
        for known in [known for known in ready if known[0] == key[0]]:
            del ready[known]
        gc.collect()
        return {}


def told(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else '(no message)'}"[:300]


def seconds_per_call(call: Callable[[], Any], seconds: float) -> float:
    """Calls again and again for about so many seconds, at least once; the mean time of a call."""
    count, started = 0, time.perf_counter()
    while True:
        call()
        count += 1
        elapsed = time.perf_counter() - started
        if elapsed >= seconds:
            return elapsed / count


def steps_for(rate: float, plan: Plan, multiple: int = 50) -> int:
    """How many steps take the planned time at this rate, rounded to whole groups."""
    return max(1, round(rate * plan.seconds / multiple)) * multiple


def measured_steps(run: Callable[[int], float], plan: Plan, *, guess: int, multiple: int = 50) -> Measure:
    """Prepares a training: a first run of `guess` steps warms up and tells how many steps fill the planned time.

    Args:
        run: trains so many steps, returns steps per second.
    """
    steps = steps_for(run(guess), plan, multiple)
    return lambda: {"per_second": run(steps), "steps": steps}


def resident_mb() -> float:
    """The resident memory of this process."""
    return _status_mb("VmRSS")


def watched_memory() -> Callable[[], float]:
    """Starts to watch memory; the function returned tells the most that was resident since, above what was before."""
    before = resident_mb()
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
            reset.write("5")  # the peak starts anew
    except OSError:
        before = max(before, _status_mb("VmHWM"))
    return lambda: _status_mb("VmHWM") - before


def touched_memory(megabytes: int) -> None:
    """Takes so much memory, and as much again for a file, and gives both back.

    The first touch of a page that a virtual machine has not used for a while takes many times as long as the next, and
    whoever is measured first would pay for it: seconds, for a checkpoint of a gigabyte.
    """
    block = bytes(1 << 20)
    held = [bytearray(block) for _ in range(megabytes)]
    with tempfile.TemporaryFile() as file:
        for part in held:
            file.write(part)


def drift(call: Callable[[], Any], calls: int) -> Figures:
    """Calls so many times and reports how resident memory moved after the first tenth, which is warm-up."""
    curve, started = [], time.perf_counter()
    for _ in range(calls):
        call()
        curve.append(resident_mb())
    tenth = max(1, calls // 10)
    settled, end = statistics.median(curve[tenth : 2 * tenth] or curve), statistics.median(curve[-tenth:])
    shown = curve[:: max(1, calls // 50)]
    return {
        "drift": (end - settled) / settled,
        "calls": calls,
        "resident_mb": [round(value, 2) for value in shown],
        "elapsed": time.perf_counter() - started,
    }


def _status_mb(key: str) -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {key}; memory can be measured on Linux only.")


def _versions(packages: Iterable[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "absent"
    return found


def _private_stdout() -> Any:
    """The stream for answers. Whatever a library prints goes to stderr from now on."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8")
