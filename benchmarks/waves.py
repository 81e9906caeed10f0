"""Rows under a time limit: some rows prepare at a time, all contenders beside each other; then each has turns alone.

Where a machine with a GPU is lent for minutes, most of the time would go into imports and compilations, one after the
other. So each contender of a row has a process of its own. While a row is measured, the processes of the next rows
only start and import, on other cores; what uses the GPU waits until nothing is measured.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.peers import WorkerError
from benchmarks.results import Figures
from benchmarks.rows import Row
from benchmarks.runner import LiveWorker, Runner, figures_of
from benchmarks.workers.protocol import Plan

_AT_A_TIME = 20  # processes that prepare beside each other
_MOST_PREPARING = 150.0  # seconds until all of them have to be ready, where time is limited
_PATIENCE = 900.0  # seconds, where it is not
_LONGEST_TURN = 90.0  # seconds, the choices before the first one included
_LEAST = 15.0  # seconds left, below which no row is begun
_FAR = 1e9
_COMPILED = ("compiled", "fit_jit", "jit", "scan")

Save = Callable[[str, dict[str, Figures]], None]
Profile = Callable[[Row, dict[str, Figures], str, Callable[[], dict[str, Any]]], None]


@dataclass
class _Contender:
    """A contender of a row, with its process."""

    row: Row
    name: str
    plan: Plan
    worker: LiveWorker | None = None
    problem: str = ""
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        return not self.problem

    def close(self) -> None:
        if self.worker is not None:
            self.worker.kill()
            self.worker = None


class Waves:
    """Measures rows in order, as many as the time allows.

    Args:
        runner: the settings, and the versions of what was started.
        deadline: when it must be over, by `time.monotonic`.
        save: called with each row that is done, and its figures.
        profile: called with each row and contender while its process is alive, and with what profiles it.
    """

    def __init__(self, runner: Runner, run: str, deadline: float | None, save: Save, profile: Profile) -> None:
        self._runner, self._run, self._save, self._profile = runner, run, save, profile
        self._deadline = _FAR if deadline is None else deadline
        cores, others = runner.settings.cores, runner.settings.other_cores
        self._measuring, self._starting, self._all = cores, others or cores, (*cores, *others)
        self._threads = ThreadPoolExecutor(max(2, len(self._all)), "contender")
        self._begun = time.monotonic()

    def measure(self, rows: Sequence[Row]) -> list[str]:
        """Measures the rows; returns the keys of those that there was no time for."""
        own = [row for row in rows if not row.of]
        waves: list[list[Row]] = []
        for row in own:
            if waves and sum(map(self._count, (*waves[-1], row))) <= _AT_A_TIME:
                waves[-1].append(row)
            else:
                waves.append([row])
        left = [row.key for row in own]
        started = self._start(waves[0], self._all) if waves else []
        try:
            for number in range(len(waves)):
                self._prepare(started)
                following = waves[number + 1] if number + 1 < len(waves) else []
                upcoming = self._start(following, self._starting)
                for row in waves[number]:
                    if self._left() < _LEAST:
                        return left
                    order = row.points(self._runner.settings.is_quick)
                    contenders = [one for one, _ in started if one.row is row]
                    contenders.sort(key=lambda one: order.index(one.name))
                    self._measure(row, contenders, rows)
                    left.remove(row.key)
                    for one in contenders:
                        one.close()
                started = upcoming
            return left
        finally:
            for one, _ in started:
                one.close()
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _count(self, row: Row) -> int:
        """How many processes a row has."""
        return len(row.points(self._runner.settings.is_quick)) * self._processes(row)

    def _processes(self, row: Row) -> int:
        """How many processes a contender of a row has: of an isolated row one for each round."""
        return (row.rounds or self._runner.settings.rounds) if row.is_isolated else 1

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _say(self, text: str) -> None:
        print(f"[{time.monotonic() - self._begun:5.0f} s] {text}", flush=True)

    def _start(self, rows: Sequence[Row], cores: tuple[int, ...]) -> list[tuple[_Contender, Future[None]]]:
        """Starts the processes of rows, which import, on these cores: what compiles longest first."""
        settings, all_of_them = self._runner.settings, []
        for row in rows:
            for name in row.points(settings.is_quick) * self._processes(row):
                plan = Plan(name.partition("/")[2], settings.seconds, 0, settings.is_quick, row.device)
                all_of_them.append(_Contender(row, name, plan))
        all_of_them.sort(key=lambda one: one.plan.variant not in _COMPILED)
        return [(one, self._threads.submit(self._begin, one, cores)) for one in all_of_them]

    def _begin(self, one: _Contender, cores: tuple[int, ...]) -> None:
        peer = one.name.partition("/")[0]
        try:
            one.worker = LiveWorker(peer, one.row.device, self._runner.settings, cores)
            versions = one.worker.ask("about", seconds=_MOST_PREPARING)
            self._runner.versions[peer] = {name: version for name, version in versions.items() if version}
        except WorkerError as error:
            one.problem = str(error)

    def _prepare(self, started: Sequence[tuple[_Contender, Future[None]]]) -> None:
        """Prepares all of them, beside each other, on all cores."""
        most = _PATIENCE if self._deadline == _FAR else min(_MOST_PREPARING, max(self._left() - _LEAST, 1.0))
        ends = time.monotonic() + most
        keys = dict.fromkeys(one.row.key for one, _ in started)
        self._say(f"{', '.join(keys)}: preparing")

        def prepare(one: _Contender, begun: Future[None]) -> None:
            begun.result()
            if one.worker is None or not one.is_sound:
                return
            with contextlib.suppress(OSError):
                one.worker.move(self._all)
            began = time.monotonic()
            try:
                one.worker.ask("prepare", one.row.key, one.plan, seconds=max(ends - time.monotonic(), 0.1))
                self._say(f"  ready after {time.monotonic() - began:.1f} s: {one.row.key} {one.name}")
            except WorkerError as error:
                late = time.monotonic() >= ends - 0.5
                one.problem = f"fails: not ready after {most:.0f} s" if late else str(error)
                self._say(f"  {one.row.key} {one.name}: {one.problem}")

        # As many threads as cores: more processes than that would only wait for each other.
        wait([self._threads.submit(prepare, one, begun) for one, begun in started])
        for one, _ in started:
            if one.worker is not None and one.is_sound:
                with contextlib.suppress(OSError):
                    one.worker.move(self._measuring)

    def _measure(self, row: Row, contenders: Sequence[_Contender], rows: Sequence[Row]) -> None:
        """All rounds of a row that there is time for, and the rows that share its answers."""
        settings = self._runner.settings
        rounds = 1 if row.is_isolated else (row.rounds or settings.rounds * row.more_rounds)
        for turn in range(rounds):
            for one in [one for one in contenders if one.is_sound]:
                if self._left() < (0 if turn else _LEAST / 3):
                    one.problem = "" if one.answers else "fails: no time was left"
                    continue
                try:
                    if one.worker is None:
                        raise WorkerError("fails: it was not started")
                    seconds = max(min(self._left() + 5, _LONGEST_TURN), 5.0)
                    one.answers.append(one.worker.ask("measure", row.key, one.plan, seconds=seconds))
                except WorkerError as error:
                    one.problem = str(error)
                    self._say(f"  {row.key} {one.name}: {one.problem}")
        own = self._figures(row, contenders)
        self._save(row.key, own)
        for other in (other for other in rows if other.of == row.key):
            self._save(other.key, self._figures(other, contenders))
        shown = ", ".join(f"{name} {one.median:.4g}" for name, one in own.items() if one.values)
        self._say(f"{row.key}: {shown}")
        for one in contenders if not row.is_isolated else ():
            if one.answers and one.worker is not None and self._left() > 2 * _LEAST:
                with contextlib.suppress(WorkerError):
                    self._profile(row, own, one.name, partial(one.worker.ask, "trace", row.key, one.plan, seconds=30.0))

    def _figures(self, row: Row, contenders: Sequence[_Contender]) -> dict[str, Figures]:
        """The figures of contenders, of isolated ones those of all their processes."""
        figures: dict[str, Figures] = {}
        for name in dict.fromkeys(one.name for one in contenders):
            answers = [answer for one in contenders if one.name == name for answer in one.answers]
            problem = next((one.problem for one in contenders if one.name == name and one.problem), "not measured")
            figures[name] = figures_of(self._run, row, answers) if answers else Figures(self._run, (), problem)
        return figures


def cores_beside(cores: tuple[int, ...]) -> tuple[int, ...]:
    """The cores that this process may use and the measured ones do not."""
    affinity = getattr(os, "sched_getaffinity", lambda process: range(os.cpu_count() or 1))
    return tuple(sorted(set(affinity(0)) - set(cores)))
