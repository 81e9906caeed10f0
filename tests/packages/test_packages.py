"""Packages that were written for tf.estimator train, evaluate and predict under `lightwell.install()`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.packages


def printed(program: str, folder: Path) -> Any:
    """The JSON on the last line that a program of this folder prints."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(f"{program}.py")), str(folder / "model")],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_deepctr_learns(tmp_path: Path) -> None:
    found = printed("deepfm", tmp_path)
    assert found["AUC"] > 0.8
    assert (found["steps"], found["rows"]) == (300, 5)


def test_tensorflow_gan_trains(tmp_path: Path) -> None:
    expected = ["discriminator_loss", "generator_loss", "global_step", "loss"]
    assert printed("gan", tmp_path) == {"metrics": expected, "steps": 50, "row": [2]}


@pytest.mark.parametrize("module", ["deepctr.estimator", "tensorflow_gan.python.estimator.stargan_estimator"])
def test_their_modules_import_with_the_doors_open(module: str) -> None:
    program = f"import lightwell; lightwell.install(); import importlib; importlib.import_module({module!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
