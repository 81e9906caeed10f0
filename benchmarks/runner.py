"""The runner: worker processes with pinned threads, and the rounds in which the contenders of a row take turns."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers import BEFORE, PEERS, ROOT, WorkerError, without_places
from benchmarks.results import Figures
from benchmarks.rows import Row
from benchmarks.workers.protocol import Plan

_TIMEOUT = 900.0
_SHARED_GPU = {"TF_FORCE_GPU_ALLOW_GROWTH": "true", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
_INSTALLING = threading.Lock()
_THREADS = ("TF_NUM_INTRAOP", "TF_NUM_INTEROP", "OMP_NUM", "MKL_NUM", "OPENBLAS_NUM")


@dataclass(frozen=True)
class Settings:
    """How to measure."""

    rounds: int
    seconds: float  # of a measurement
    is_quick: bool  # tiny data, to see that everything runs
    cores: tuple[int, ...]  # that every process is pinned to
    scratch: str  # a folder for files
    python: str = ""  # an interpreter that has all peers, where their environments cannot be made
    other_cores: tuple[int, ...] = ()  # for processes that start while others are measured


class LiveWorker:
    """The process of one peer, idle on its stdin while others are measured."""

    def __init__(self, peer: str, device: str, settings: Settings, cores: tuple[int, ...] = ()) -> None:
        with _INSTALLING:
            python = settings.python or PEERS[peer].python()
        pin, cores = getattr(os, "sched_setaffinity", None), cores or settings.cores
        self._log = tempfile.TemporaryFile("w+", dir=settings.scratch)  # noqa: SIM115 - open as long as the process
        self.process: Any = subprocess.Popen(
            [str(python), "-m", f"benchmarks.workers.{PEERS[peer].module}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT,
            env=_environment(peer, device, settings),
            preexec_fn=(lambda: pin(0, cores)) if pin else None,
            start_new_session=True,  # with the processes that compilers start
        )

    def ask(
        self, do: str, row: str = "", plan: Plan | None = None, *, seconds: float = _TIMEOUT, **more: Any
    ) -> dict[str, Any]:
        """Sends a request and waits for the answer; a WorkerError says why there is none, in so many seconds."""
        request, line = {"do": do, "row": row, "plan": asdict(plan or Plan()), **more}, ""
        timer = threading.Timer(seconds, self.process.kill)
        timer.start()
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        timer.cancel()
        if not line:
            code = self.process.wait(timeout=10)
            self._log.seek(0)
            last = [text.strip() for text in self._log if text.strip()][-1:] or [f"exit code {code}"]
            raise WorkerError(f"fails: the process ended: {without_places(last[0])[:300]}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise WorkerError(f"fails: {without_places(answer['error'])}")
        return answer

    def move(self, cores: tuple[int, ...]) -> None:
        """Pins all its threads to other cores."""
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread), cores)

    def close(self) -> None:
        """Lets it end by itself; by force, if it does not."""
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=20)
        self.kill()

    def kill(self) -> None:
        """Ends it at once, with the processes that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _environment(peer: str, device: str, settings: Settings) -> dict[str, str]:
    """The variables of a worker: the same number of threads for every library, our sources, the device.

    Python stores our compiled sources, as it does those of installed peers, whatever the shell says.
    """
    source = os.environ.get("LIGHTWELL_BEFORE", "") if peer == BEFORE else str(ROOT)
    hidden = {"CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"} if device == "cpu" else _SHARED_GPU
    return {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        **{f"{name}_THREADS": str(len(settings.cores)) for name in _THREADS},
        **hidden,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(source) / "src")]),
        "PYTHONWARNINGS": "ignore",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TMPDIR": settings.scratch,
    }


@dataclass
class Runner:
    """The live workers of a run, one for each peer and device; `versions` are those of all that were started."""

    settings: Settings
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    _workers: dict[tuple[str, str], LiveWorker] = field(default_factory=dict)
    _absent: dict[str, WorkerError] = field(default_factory=dict)

    def measure(self, row: Row, run: str, sharing: Sequence[Row] = ()) -> dict[str, dict[str, Figures]]:
        """All rounds of a row: by row the figures of its contenders, at each size if it has sizes.

        Args:
            row: the row.
            run: the name of the run.
            sharing: more rows, whose figures are in the same answers.
        """
        rounds = row.rounds or self.settings.rounds * row.more_rounds
        rounds = 1 if self.settings.is_quick and row.sizes else rounds
        answers: dict[str, list[dict[str, Any]]] = {point: [] for point in row.points(self.settings.is_quick)}
        problems: dict[str, str] = {}
        for turn in range(rounds):
            for point in (point for point in answers if point not in problems):
                print(f"{row.key}: round {turn + 1} of {rounds}, {point}", flush=True)
                try:
                    with self._worker(row, point, is_first=turn == 0) as (worker, plan):
                        answers[point].append(worker.ask("measure", row.key, plan))
                except WorkerError as error:
                    problems[point] = str(error)
                    print(f"  {error}", flush=True)
        for live in self._workers.values():
            with contextlib.suppress(WorkerError):
                live.ask("forget")
        return {
            one.key: {
                point: Figures(run, (), problems[point]) if point in problems else figures_of(run, one, own)
                for point, own in answers.items()
            }
            for one in (row, *sharing)
        }

    def profile(self, row: Row) -> dict[str, Any]:
        """Where the time of our side of a row goes: of a training the measured steps, else the whole measurement."""
        with self._worker(row, row.points(True)[0], is_first=True) as (worker, plan):
            return worker.ask("profile", row.key, plan, is_between_marks=row.unit == "steps/s" and not row.sizes)

    def close(self) -> None:
        """Ends all workers."""
        for worker in self._workers.values():
            worker.close()

    @contextlib.contextmanager
    def _worker(self, row: Row, point: str, *, is_first: bool) -> Iterator[tuple[LiveWorker, Plan]]:
        """The worker of a contender with the row prepared; one of its own if the row is isolated."""
        contender, _, size = point.partition("@")
        peer, _, variant = contender.partition("/")
        plan = Plan(variant, self.settings.seconds, int(size or 0), self.settings.is_quick, row.device)
        if not self.settings.is_quick and available_gb() < row.gigabytes:
            raise WorkerError(f"absent: needs {row.gigabytes:g} GB of free memory, there are {available_gb():.1f}")
        if row.is_isolated:
            worker = self._start(peer, row.device)
        else:
            worker = self._workers.get((peer, row.device))
            if worker is None or worker.process.poll() is not None:
                worker = self._workers[peer, row.device] = self._start(peer, row.device)
        try:
            if is_first or row.is_isolated:
                worker.ask("prepare", row.key, plan)
            yield worker, plan
        finally:
            if row.is_isolated:
                worker.close()

    def _start(self, peer: str, device: str) -> LiveWorker:
        if peer in self._absent:
            raise self._absent[peer]
        try:
            worker = LiveWorker(peer, device, self.settings)
        except WorkerError as error:
            self._absent[peer] = error
            raise
        self.versions[peer] = {name: version for name, version in worker.ask("about").items() if version}
        return worker


def figures_of(run: str, row: Row, answers: list[dict[str, Any]]) -> Figures:
    """The values of the rounds; of other numbers the median, of the rest the last."""
    kind = row.figure or row.kind
    if row.of:
        values = tuple(answer[kind] for answer in answers if kind in answer)
        return Figures(run, values, "" if values else "fails: it does not say")
    details = {
        name: statistics.median(answer[name] for answer in answers) if isinstance(last, (int, float)) else last
        for name, last in answers[-1].items()
        if name != kind
    }
    return Figures(run, tuple(answer[kind] for answer in answers), "", details)


def usable_cores(most: int) -> tuple[int, ...]:
    """The cores that workers are pinned to: the first ones that this process may use."""
    affinity = getattr(os, "sched_getaffinity", lambda process: range(os.cpu_count() or 1))
    return tuple(sorted(affinity(0))[:most])


def machine() -> dict[str, Any]:
    """The machine, the date, the sources and the load before the run. No names of hosts, users or folders."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _value_in("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "gpu": _output("nvidia-smi", "--query-gpu=name", "--format=csv,noheader"),
        "cores": os.cpu_count(),
        "memory_gb": round(int((_value_in("/proc/meminfo", "MemTotal") or "0").split()[0]) / 1024**2, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
        "commit": _output("git", "rev-parse", "--short", "HEAD"),
        "is_modified": bool(_output("git", "status", "--porcelain", "--", "src", "benchmarks/workers")),
    }


def available_gb() -> float:
    """The memory that new processes can have; very much where the system does not say."""
    value = _value_in("/proc/meminfo", "MemAvailable")
    return int(value.split()[0]) / 1024**2 if value else 1e9


def _value_in(path: str, key: str) -> str:
    with contextlib.suppress(OSError), open(path, encoding="utf-8") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")
    return ""


def _output(*command: str) -> str:
    with contextlib.suppress(OSError):
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    return ""
