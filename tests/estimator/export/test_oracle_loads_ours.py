"""tensorflow 2.15.1 loads what we exported, in eager code and in a session, and predicts the same.

Needs LIGHTWELL_ORACLE: the Python of an environment with tensorflow 2.15.1. Run by `make test-oracle`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.estimator.export import kinds


class Pair(NamedTuple):
    """What the oracle's process gave, and what had to come."""

    given: dict[str, Any]
    expected: Any


pytestmark = pytest.mark.oracle
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    python = os.environ.get("LIGHTWELL_ORACLE")
    if not python:
        pytest.fail("set LIGHTWELL_ORACLE to the Python of an environment with tensorflow 2.15.1")
    inputs = tmp_path_factory.mktemp("inputs") / "inputs.npz"
    np.savez(inputs, x=kinds.X, word=kinds.WORD)
    folders, expected = {}, {}
    for kind in kinds.KINDS:
        scratch = tmp_path_factory.mktemp(kind)
        made = kinds.trained(kind, scratch)
        folders[kind] = made.export_saved_model(scratch / "exports", taps="features/x").decode()
        expected[kind] = kinds.predictions(made)
    command = [python, "-m", "tests.oracle.load_saved_model", str(inputs), *folders.values()]
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "TF_CONFIG")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for kind, folder in folders.items():
        with np.load(Path(folder) / "oracle.npz") as stored:
            found[kind] = Pair({name: stored[name] for name in stored.files}, expected[kind])
    return found


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_it_predicts_the_same(kind: str, loaded: dict[str, Pair]) -> None:
    for name in ("eager:output", "session:output", "taps:output"):
        np.testing.assert_allclose(loaded[kind].given[name], loaded[kind].expected, rtol=1e-4, atol=1e-5, err_msg=name)
    np.testing.assert_array_equal(loaded[kind].given["taps:features/x"], kinds.X)
