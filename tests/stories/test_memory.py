"""A process that trains, evaluates and predicts for hours does not grow; nor does one long `train_and_evaluate`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contracts.sources import ROOT

SETTLED = 20


def resident_after_each_cycle(cycles: int, work: str = "verbs") -> list[int]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "TF_CPP_MIN_LOG_LEVEL": "3"}
    script = Path(__file__).with_name("cycles.py")
    done = subprocess.run(
        [sys.executable, str(script), work, str(cycles)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [int(line) for line in done.stdout.split()]


def check_flat(resident: list[int]) -> None:
    settled, last = max(resident[:SETTLED]), max(resident[-5:])
    assert last < settled * 1.01, f"from {settled / 1e6:.1f} MB after {SETTLED} cycles to {last / 1e6:.1f} MB"


@pytest.mark.slow
def test_thirty_cycles() -> None:
    check_flat(resident_after_each_cycle(30))


@pytest.mark.slow
def test_two_hundred_cycles() -> None:
    check_flat(resident_after_each_cycle(200))


@pytest.mark.slow
@pytest.mark.parametrize("work", ["runs", "rounds"])
def test_a_hundred_of_train_and_evaluate(work: str) -> None:
    check_flat(resident_after_each_cycle(100, work))
