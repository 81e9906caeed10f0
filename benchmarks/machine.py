"""What a run was made on: cores, memory, CPU, versions. No names of hosts, users or directories."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Sequence
from typing import Any

from benchmarks.environments import ROOT


def usable_cores(most: int) -> list[int]:
    """The cores that workers are pinned to: the first ones that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))[:most]
    return list(range(min(most, os.cpu_count() or 1)))


def describe(cores: Sequence[int]) -> dict[str, Any]:
    """The machine, the date, the state of the sources, and how busy the machine was before the run."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _proc_value("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "used_cores": list(cores),
        "memory_gb": round(int((_proc_value("/proc/meminfo", "MemTotal") or "0").split()[0]) / 1024**2, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
        "commit": _git("rev-parse", "--short", "HEAD"),
        "is_modified": bool(_git("status", "--porcelain", "--", "src", "benchmarks/workers")),
    }


def available_gb() -> float:
    """How much memory new processes can have; very much where the system does not say."""
    value = _proc_value("/proc/meminfo", "MemAvailable")
    return int(value.split()[0]) / 1024**2 if value else 1e9


def _proc_value(path: str, key: str) -> str:
    try:
        with open(path, encoding="utf-8") as lines:
            return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")
    except OSError:
        return ""


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
