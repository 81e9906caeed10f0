"""A capture that is killed and called again is the same, file for file, as one that was not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests import children
from tests.inside.captures import models

import lightwell as lw

ROOT = Path(__file__).resolve().parents[3]


def killed(folder: Path, kills: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.inside.captures.killed", str(folder), str(kills)],
        cwd=ROOT,
        env=children.environment(ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert done.stdout.count("killed with") == kills
    broken, unbroken = (
        {file.name: file.read_bytes() for file in (folder / name).iterdir()} for name in ("broken", "unbroken")
    )
    assert broken == unbroken
    assert len(unbroken) > 5
    store = lw.open_capture(folder / "broken")
    np.testing.assert_array_equal(np.asarray(store["features/id"]).astype(str), models.IDS)


def test_two_kills(tmp_path: Path) -> None:
    killed(tmp_path, 2)


@pytest.mark.slow
def test_twenty_kills(tmp_path: Path) -> None:
    killed(tmp_path, 20)
