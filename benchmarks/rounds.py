"""The measurement: contenders of a row take turns, A B A B …, each in its own live process.

Takes rows, gives `Figures` by contender. A peer that cannot be installed or fails is in the results with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.environments import InstallError, is_ready, python_of
from benchmarks.goals import Figures
from benchmarks.live import LiveWorker, WorkerError
from benchmarks.machine import available_gb
from benchmarks.peers import Peer, split, title_of
from benchmarks.progress import Reporter
from benchmarks.rows import Row


class AbsentError(WorkerError):
    """A peer cannot be had on this machine."""


_BIG_ROW_GB = {"first_step_3gb": 12.0}
_BIG_MODEL_GB = 8.0


@dataclass(frozen=True)
class Settings:
    """How to measure.

    Attributes:
        rounds: how often each contender has its turn.
        seconds: how long one measurement should take.
        is_quick: tiny data, to see that everything runs.
        cores: what every worker is pinned to.
        scratch: a directory for the workers' files, removed by the caller.
    """

    rounds: int
    seconds: float
    is_quick: bool
    cores: Sequence[int]
    scratch: str

    def request(self, size: int = 0) -> dict[str, Any]:
        """What a worker must know to prepare a piece."""
        return {"seconds": self.seconds, "size": size, "is_quick": self.is_quick}


@dataclass
class Crew:
    """The live workers of a run."""

    settings: Settings
    report: Reporter
    about: dict[str, dict[str, Any]] = field(default_factory=dict)
    _alive: dict[str, LiveWorker] = field(default_factory=dict)
    _absent: dict[str, str] = field(default_factory=dict)

    def worker(self, peer: Peer) -> LiveWorker:
        """The live process of a peer; started, and its environment made, if need be.

        Raises:
            WorkerError: there is none to be had.
        """
        if peer.worker in self._absent:
            raise AbsentError(self._absent[peer.worker])
        if peer.worker not in self._alive or not self._alive[peer.worker].is_alive:
            self._alive[peer.worker] = self.start(peer)
        return self._alive[peer.worker]

    def start(self, peer: Peer) -> LiveWorker:
        """A new process of a peer.

        Raises:
            WorkerError: its environment cannot be made, or it does not start.
        """
        if not is_ready(peer.environment):
            self.report.say(f"Making the environment of {peer.title}.")
        try:
            python = python_of(peer.environment)
        except InstallError as error:
            self._absent[peer.worker] = str(error)
            raise AbsentError(str(error)) from None
        worker = LiveWorker(python, peer.worker, self.settings.cores, self.settings.scratch)
        self.about[peer.worker] = worker.ask(do="about")
        return worker

    def close(self) -> None:
        """Ends all of them."""
        for worker in self._alive.values():
            worker.close()
        self._alive.clear()


@contextmanager
def crew(settings: Settings, report: Reporter) -> Iterator[Crew]:
    """The workers of a run, ended when it is over."""
    workers = Crew(settings, report)
    try:
        yield workers
    finally:
        workers.close()


def measure_row(row: Row, workers: Crew) -> dict[str, Figures]:
    """All rounds of one row."""
    rounds, report = row.rounds_of(workers.settings.rounds), workers.report
    values: dict[str, list[float]] = {contender: [] for contender in row.contenders}
    details: dict[str, dict[str, Any]] = {contender: {} for contender in row.contenders}
    without: dict[str, Figures] = {}
    for turn in range(rounds):
        for contender in row.contenders:
            if contender in without:
                report.done()
                continue
            report.now(f"{row.key}: round {turn + 1} of {rounds}, {title_of(contender)}")
            try:
                answer = _measured(row, contender, workers, is_first=turn == 0)
            except WorkerError as error:
                reason = "absent" if isinstance(error, AbsentError) else "failed"
                without[contender] = Figures(**{reason: str(error)})
                report.say(f"{row.key}: {title_of(contender)} {without[contender].why_not}")
            else:
                values[contender].append(answer[row.kind])
                details[contender] = {k: v for k, v in answer.items() if k not in ("row", "variant", row.kind)}
            report.done()
    _forget(row, workers)
    return {
        contender: without.get(contender) or Figures(tuple(values[contender]), details=details[contender])
        for contender in row.contenders
    }


def _measured(row: Row, contender: str, workers: Crew, *, is_first: bool) -> dict[str, Any]:
    """One turn of one contender."""
    peer, variant = split(contender)
    piece = {"row": row.key, "variant": variant}
    if row.is_isolated:
        _check_memory(row, workers.settings)
        alone = workers.start(peer)
        try:
            alone.ask(do="prepare", **piece, **workers.settings.request())
            return alone.ask(do="measure", **piece)
        finally:
            alone.close()
    worker = workers.worker(peer)
    if is_first:
        worker.ask(do="prepare", **piece, **workers.settings.request())
    return worker.ask(do="measure", **piece)


def _check_memory(row: Row, settings: Settings) -> None:
    needed = 0.0 if settings.is_quick else _BIG_ROW_GB.get(row.key, _BIG_MODEL_GB if row.is_big else 0.0)
    if available_gb() < needed:
        raise AbsentError(f"it needs {needed:.0f} GB of free memory, there are {available_gb():.1f}")


def _forget(row: Row, workers: Crew) -> None:
    """Lets every worker drop what it prepared."""
    if row.is_isolated:
        return
    for contender in row.contenders:
        peer, variant = split(contender)
        try:
            workers.worker(peer).ask(do="forget", row=row.key, variant=variant)
        except WorkerError:
            continue
