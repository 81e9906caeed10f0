"""Programs of Keras 2 under `lightwell run` print what TensorFlow 2.15.1 and 1.15.5 printed."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).resolve().parents[2] / "data"
PROGRAMS = {"values": "2.15.1", "models": "2.15.1", "models_v1_behavior": "2.15.1", "models_tf1": "1.15.5"}


@cache
def printed(program: str) -> Any:
    """The JSON on the last line that a program prints under `lightwell run`."""
    command = [sys.executable, "-m", "lightwell", "run", str(DATA / "keras2" / f"{program}.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def recorded(program: str) -> dict[str, Any]:
    """What the original printed."""
    path = DATA / f"oracle-{PROGRAMS[program]}" / f"keras2_{program}.json"
    numbers: dict[str, Any] = json.loads(path.read_text())["numbers"]
    return numbers


@pytest.mark.parametrize(
    ("program", "habit"), [(program, habit) for program in PROGRAMS for habit in sorted(recorded(program))]
)
def test_a_habit_gives_the_numbers_of_the_original(program: str, habit: str) -> None:
    expected, found = recorded(program)[habit], printed(program)[habit]
    assert not isinstance(expected, str), "the original refused it, so it is no habit"
    assert not isinstance(found, str), found
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
