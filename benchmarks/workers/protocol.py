"""The worker's side of the protocol: a line of JSON on stdin for each request, one on stdout for each answer.

Requests are `about`, `prepare`, `measure`, `profile`, `trace` and `forget`. An answer holds the figures of a row, such
as `{"per_second": 407.1}`, or `{"error": "..."}`. Runs in the environment of every peer: the standard library alone.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import json
import os
import platform
import pstats
import statistics
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

Figures = dict[str, Any]
Measure = Callable[[], Figures]


@dataclass(frozen=True)
class Plan:
    """How a row is to be measured."""

    variant: str = ""  # which of a peer's ways to do it; "" where there is one
    seconds: float = 1.5  # how long one measurement should take
    size: int = 0  # in a row that has several
    is_quick: bool = False  # tiny data, to see that everything runs; the figures mean nothing
    device: str = "cpu"  # or "gpu"

    def scaled(self, full: int, quick: int) -> int:
        """A count of rows or repetitions: the full one, or the one for a quick run."""
        return quick if self.is_quick else full


Prepare = Callable[[Plan], Measure]


@dataclass
class Worker:
    """The rows that one peer can do, the packages whose versions are reported, and versions known otherwise."""

    packages: tuple[str, ...]
    versions: dict[str, str] = field(default_factory=dict)
    trace: Callable[[Measure], Figures] | None = None  # profiles a measurement on its device
    _rows: dict[tuple[str, str], Prepare] = field(default_factory=dict)

    def row(self, key: str, *variants: str) -> Callable[[Prepare], Prepare]:
        """Registers a function that prepares a row, warm-up included, and returns what measures it once."""

        def register(prepare: Prepare) -> Prepare:
            self._rows.update({(key, variant): prepare for variant in variants or ("",)})
            return prepare

        return register

    def prepare(self, key: str, plan: Plan) -> Measure:
        """Prepares a row; a LookupError says that this peer does not know it."""
        if (key, plan.variant) not in self._rows:
            known = ", ".join("/".join(filter(None, row)) for row in self._rows)
            raise LookupError(f"No row {key!r} with variant {plan.variant!r}; there are {known}.")
        return self._rows[key, plan.variant](plan)

    def serve(self) -> None:
        """Answers requests until stdin ends. What libraries print goes to stderr."""
        answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        prepared: dict[str, Measure] = {}
        for line in sys.stdin:
            try:
                answer = self._answer(json.loads(line), prepared)
            except Exception as error:  # a peer that fails in one row goes on with the next
                traceback.print_exc()
                lines = str(error).strip().splitlines() or ["(no message)"]
                answer = {"error": f"{type(error).__name__}: {lines[0]}"[:300]}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()

    def _answer(self, request: Figures, prepared: dict[str, Measure]) -> Figures:
        do, key = request["do"], f"{request.get('row')}/{request.get('plan', {}).get('variant')}"
        if do == "about":
            packages = {name: _version(name) for name in self.packages}
            return {**self.versions, "python": platform.python_version(), **packages}
        gc.collect()
        if do == "prepare":
            prepared[key] = self.prepare(request["row"], Plan(**request["plan"]))
        if do == "measure":
            return prepared[key]()
        if do == "profile":
            return _profile(prepared[key], request["is_between_marks"])
        if do == "trace":
            if self.trace is None:
                raise LookupError("This peer has no traces.")
            return self.trace(prepared[key])
        if do == "forget":
            prepared.clear()
        return {}


_profiler: cProfile.Profile | None = None


def mark(times: list[float], last: int) -> None:
    """Notes the time; a profile of a training covers what lies between the last two marks."""
    times.append(time.perf_counter())
    if _profiler and len(times) >= last - 1:
        (_profiler.disable if len(times) == last else _profiler.enable)()


def seconds_per_call(call: Callable[[], Any], seconds: float) -> float:
    """The mean time of a call, called again and again for about so many seconds, at least once."""
    count, started = 0, time.perf_counter()
    while True:
        call()
        count += 1
        elapsed = time.perf_counter() - started
        if elapsed >= seconds:
            return elapsed / count


def measure_calls(call: Callable[[], Any], plan: Plan, rows: float = 0, warm: int = 1) -> Measure:
    """Measures a call after `warm` calls: rows per second, or the seconds of a call if no rows are named."""
    for _ in range(warm):
        call()
    if rows:
        return lambda: {"per_second": rows / seconds_per_call(call, plan.seconds)}
    return lambda: {"seconds": seconds_per_call(call, plan.seconds)}


def measure_steps(run: Callable[[int], float], plan: Plan, *, guess: int, multiple: int = 50) -> Measure:
    """Measures a training; `run` trains so many steps and returns their rate, first `guess` steps to calibrate."""
    steps = max(1, round(run(guess) * plan.seconds / multiple)) * multiple
    return lambda: {"per_second": run(steps), "steps": steps}


def measure_turns(
    run: Callable[[int], float],
    plan: Plan,
    *,
    guess: int,
    multiple: int = 1,
    settle: Callable[[], Figures] = dict,
    device_mb: Callable[[], float],
) -> Measure:
    """As `measure_steps`, but settled and calibrated in the first turn, when the machine is its own."""
    fixed: list[int] = []
    more: Figures = {}

    def measure() -> Figures:
        if not fixed:
            more.update(settle())
            run(guess)
            rate = run(max(1, round(run(guess) * plan.seconds / 5 / multiple)) * multiple)
            fixed.append(max(1, round(rate * plan.seconds / multiple)) * multiple)
        rate = run(fixed[0])
        return {"per_second": rate, "steps": fixed[0], **_memory(device_mb), **more}

    return measure


def first_step_of(prepare: Callable[[], Callable[[], Any]], device_mb: Callable[[], float]) -> Measure:
    """Measures the first step once: the seconds in which it is prepared and taken."""

    def measure() -> Figures:
        seconds = time_of(lambda: prepare()())
        return {"seconds": seconds, **_memory(device_mb)}

    return measure


def _memory(device_mb: Callable[[], float]) -> Figures:
    """The peak of device memory, where the framework says it: a rate is worth something without it."""
    try:
        return {"megabytes": device_mb()}
    except Exception:
        traceback.print_exc()
        return {}


def measure_loop(
    call: Callable[[], Any], plan: Plan, *, multiple: int, steps_a_call: int = 1, finish: Callable[[], Any] = int
) -> Measure:
    """Measures a training loop written by hand; `finish` waits for what is still computed."""

    def run(steps: int) -> float:
        calls, started = max(1, round(steps / steps_a_call)), time.perf_counter()
        for _ in range(calls):
            call()
        finish()
        return calls * steps_a_call / (time.perf_counter() - started)

    run(multiple)
    return measure_steps(run, plan, guess=multiple, multiple=multiple)


def measure_growth(first: float, again: Callable[[], float], peak_mb: Callable[[], float]) -> Measure:
    """Measures a point of growth: the seconds of the start, the seconds afterwards, the peak of memory."""
    return lambda: {"seconds": again(), "start_seconds": first, "memory_mb": peak_mb()}


def time_of(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def peak_memory() -> Callable[[], float]:
    """Starts to observe memory; the function returned gives the peak since then, above what was resident before."""
    before = status_mb("VmRSS")
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
            reset.write("5")  # resets the peak
    except OSError:
        before = max(before, status_mb("VmHWM"))
    return lambda: status_mb("VmHWM") - before


def touch_memory(megabytes: int) -> None:
    """Uses memory and as much again for a file, as the first touch of a page is slow on a virtual machine."""
    blocks = [bytearray(1 << 20) for _ in range(megabytes)]
    with tempfile.TemporaryFile() as file:
        for block in blocks:
            file.write(block)


def drift(call: Callable[[], Any], calls: int) -> Figures:
    """How resident memory moves over so many calls, after the first tenth, which is warm-up."""
    curve = []
    for _ in range(calls):
        call()
        curve.append(status_mb("VmRSS"))
    tenth = max(1, calls // 10)
    settled, end = statistics.median(curve[tenth : 2 * tenth] or curve), statistics.median(curve[-tenth:])
    shown = [round(value, 2) for value in curve[:: max(1, calls // 50)]]
    return {"drift": (end - settled) / settled, "calls": calls, "resident_mb": shown}


def tensorflow_device_mb(tf: Any) -> float:
    """The peak of what tensors took of the GPU; without one, of resident memory."""
    if not tf.config.list_physical_devices("GPU"):
        return status_mb("VmHWM")
    return tf.config.experimental.get_memory_info("GPU:0")["peak"] / 2**20


def status_mb(key: str) -> float:
    """A value of /proc/self/status: VmRSS is the resident memory, VmHWM its peak."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(key + ":"))


def _profile(measure: Measure, is_between_marks: bool) -> Figures:
    """Runs a measurement under cProfile, which sees the calling thread; rows of own share, total share, calls, name."""
    global _profiler
    profiler = _profiler = cProfile.Profile()
    try:
        measure() if is_between_marks else profiler.runcall(measure)
    finally:
        _profiler = None
    stats = pstats.Stats(profiler).stats.items()  # type: ignore[attr-defined]
    whole = sum(numbers[2] for _, numbers in stats) or 1e-9
    functions = [
        (own / whole, total / whole, calls, f"{name} {'/'.join(file.split('/')[-4:])}:{line}" if line else name)
        for (file, line, name), (_, calls, own, total, _) in stats
    ]
    return {"whole": whole, "functions": sorted(functions, reverse=True)[:200]}


def _version(package: str) -> str:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return ""
