"""How training scales over processes and devices of this machine: `python -m benchmarks.scaling`.

Starts real clusters of processes, in a network of their own where the system allows it, so that all bytes that the
loopback device carries are theirs. Writes `scaling.json`, and from it `SCALING.md` and its picture.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import fcntl
import itertools
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.environments import ROOT
from benchmarks.scaling_report import write_page

HERE = ROOT / "benchmarks"
_NEW_NETWORK, _SET_FLAGS, _UP = 0x40000000, 0x8914, 0x41
_BATCH, _UNITS, _WARM = 128, 512, 2
_WAIT = 300.0


@dataclass(frozen=True)
class Arrangement:
    """Who trains, and how.

    Attributes:
        key: its name.
        title: for the page.
        kind: `one`, `apart`, `ps`, `mirrored` or `together`.
        workers: how many train, each with a batch of its own.
        fuse_steps: whether many steps may be one call of the session.
    """

    key: str
    title: str
    kind: str
    workers: int
    fuse_steps: Any = "auto"


ARRANGEMENTS = (
    Arrangement("one", "one process", "one", 1),
    Arrangement("one_single", "one process, a call for each step", "one", 1, False),
    Arrangement("apart_2", "two such processes that know nothing of each other", "apart", 2, False),
    Arrangement("mirrored_1", "MirroredStrategy, 1 CPU device", "mirrored", 1),
    Arrangement("mirrored_2", "MirroredStrategy, 2 CPU devices", "mirrored", 2),
    Arrangement("ps_1", "1 ps, 1 worker", "ps", 1),
    Arrangement("ps_2", "1 ps, 2 workers", "ps", 2),
    Arrangement("together_2", "MultiWorkerMirroredStrategy, 2 processes", "together", 2),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--only", default="", help="keys of arrangements, with commas between; all if not given")
    parser.add_argument("--marks", type=int, default=12, help="how many stretches of 50 steps are measured")
    parser.add_argument("--out", default=str(HERE), help="where to write")
    asked = parser.parse_args(arguments)
    out = Path(asked.out)
    found = _load(out / "scaling.json")
    is_alone = _own_network()
    for one in ARRANGEMENTS:
        if not asked.only or one.key in asked.only.split(","):
            print(f"{one.title} …", flush=True)
            figures = _measured(one, asked.marks, is_alone)
            found["arrangements"][one.key] = dataclasses.asdict(one) | figures
            (out / "scaling.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    found["model"] = {"batch": _BATCH, "units": _UNITS, "weight_bytes": 4 * _weights(_UNITS)}
    (out / "scaling.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    missing = [one.key for one in ARRANGEMENTS if one.key not in found["arrangements"]]
    if missing:
        print(f"No page without the figures of {', '.join(missing)}.")
        return
    write_page(found, out)
    print(f"Written: {out.name}/SCALING.md")


def _load(path: Path) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"arrangements": {}}
    return kept


def _weights(units: int) -> int:
    """How many numbers are trained: three dense layers, as in `workers/scaling_program.py`."""
    sizes = [256, units, units, 10]
    return sum(before * after + after for before, after in itertools.pairwise(sizes))


def _own_network() -> bool:
    """Moves this process, and those it starts, into a network with nothing but loopback; says whether it could."""
    if not hasattr(socket, "AF_INET") or ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    return True


def _measured(one: Arrangement, marks: int, is_alone: bool) -> dict[str, Any]:
    """The figures of one arrangement, and how busy the machine was."""
    about = machine.describe(machine.usable_cores(2))
    with tempfile.TemporaryDirectory(prefix="scaling-", ignore_cleanup_errors=True) as folder:
        every = 50 * (one.workers if one.kind == "ps" else 1)
        asked = {
            "kind": one.kind,
            "workers": one.workers,
            "fuse_steps": one.fuse_steps,
            "every": every,
            "batch": _BATCH,
            "units": _UNITS,
            "steps": every * (_WARM + marks + 1),
            "model_dir": str(Path(folder) / "model"),
            "marks": str(Path(folder) / "marks"),
        }
        os.makedirs(asked["model_dir"])
        _run(one, asked, folder)
        lines = [json.loads(line) for line in Path(asked["marks"]).read_text().splitlines()][_WARM:]
    seconds = [(b[0] - a[0]) / (b[1] - a[1]) for a, b in itertools.pairwise(lines)]
    a_step = statistics.median(seconds)
    batches = 1 if one.kind == "ps" else one.workers  # a step over parameter servers is that of one worker
    return {
        "step_ms": 1e3 * a_step * (one.workers if one.kind == "ps" else 1),
        "step_ms_least": 1e3 * min(seconds) * (one.workers if one.kind == "ps" else 1),
        "step_ms_most": 1e3 * max(seconds) * (one.workers if one.kind == "ps" else 1),
        "examples_per_second": _BATCH * batches / a_step,
        "bytes_per_step": (lines[-1][2] - lines[0][2]) / (lines[-1][1] - lines[0][1]),
        "steps": lines[-1][1] - lines[0][1],
        "own_network": is_alone,
        **{name: about[name] for name in ("date", "cpu", "cores", "load_before")},
    }


def _run(one: Arrangement, asked: dict[str, Any], folder: str) -> None:
    cluster, tasks = _cluster(one)
    cores = machine.usable_cores(2)
    started = []
    for place, (kind, index) in enumerate(tasks):
        own = [cores[place % len(cores)]]
        if kind == "ps":
            own = cores
        elif one.kind == "mirrored":  # a core for each device
            own = cores[: one.workers]
        told = (
            {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})} if cluster else {}
        )
        own_files = {name: f"{asked[name]}-{place}" for name in ("model_dir", "marks") if one.kind == "apart" and place}
        environment = os.environ | told | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        with open(Path(folder) / f"{kind}-{index}.log", "w", encoding="utf-8") as log:
            started.append(
                subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.workers.scaling_program", json.dumps(asked | own_files)],
                    cwd=ROOT,
                    env=environment,
                    stdout=log,
                    stderr=log,
                    preexec_fn=lambda own=own: os.sched_setaffinity(0, own),
                )
            )
    try:
        codes = [process.wait(_WAIT) for process in started]
    finally:
        for process in started:
            process.kill()
    if any(codes):
        logs = [path.read_text()[-1500:] for path in sorted(Path(folder).glob("*.log"))]
        raise SystemExit(f"{one.title}: a process ended with {codes}.\n" + "\n".join(logs))


def _cluster(one: Arrangement) -> tuple[dict[str, list[str]], list[tuple[str, int]]]:
    """The cluster of an arrangement, and its tasks; those that train come first."""
    if one.kind == "ps":
        jobs = {"chief": 1, "worker": one.workers - 1, "ps": 1}
    elif one.kind == "together":
        jobs = {"worker": one.workers}
    else:
        return {}, [("chief", index) for index in range(one.workers if one.kind == "apart" else 1)]
    tasks = [(kind, index) for kind, count in jobs.items() for index in range(count)]
    sockets = [socket.socket() for _ in tasks]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    cluster: dict[str, list[str]] = {}
    for (kind, _), port in zip(tasks, ports, strict=True):
        cluster.setdefault(kind, []).append(f"127.0.0.1:{port}")
    return cluster, tasks


if __name__ == "__main__":
    main()
