"""A model_dir of every canned model goes both ways: tf.estimator 2.15 goes on with ours, and we with its.

Needs LIGHTWELL_ORACLE: the Python of an environment with tensorflow 2.15.1. Run by `make test-oracle`.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.estimator.canned import both_ways
from tests.estimator.canned.both_ways import MODELS, OURS, THEIRS

import lightwell.compat.v1.estimator
import lightwell.estimator

pytestmark = pytest.mark.oracle
ROOT = Path(__file__).parents[3]
FACES = {"v1": lightwell.compat.v1.estimator, "v2": lightwell.estimator}


@pytest.fixture(scope="module")
def travelled(request: Any, tmp_path_factory: Any) -> Path:
    """A folder where all models that are asked for started on both sides, and the original has gone on with them."""
    python = os.environ.get("LIGHTWELL_ORACLE")
    if not python:
        pytest.fail("set LIGHTWELL_ORACLE to the Python of an environment with tensorflow 2.15.1")
    scratch: Path = tmp_path_factory.mktemp("both_ways")
    tests = [one for one in request.session.items if one.path == request.path]
    names = list(dict.fromkeys(one.callspec.params["name"] for one in tests))
    for name in names:
        both_ways.start(FACES[MODELS[name].case.face], name, OURS, scratch)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "TF_CONFIG")}
    command = [python, "-m", "tests.oracle.resume_canned", str(scratch), *names]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return scratch


@pytest.mark.parametrize("origin", [OURS, THEIRS])
@pytest.mark.parametrize("name", MODELS)
def test_both_go_on_alike(name: str, origin: str, travelled: Path) -> None:
    model, folder = MODELS[name], both_ways.folder_of(travelled, name, origin, OURS)
    ours = both_ways.go_on(FACES[model.case.face], name, folder)
    theirs = json.loads((travelled / "numbers.json").read_text())[f"{name}|{origin}"]
    with np.load(travelled / "variables.npz") as stored:
        prefix = f"{name}|{origin}|"
        values = {key.removeprefix(prefix): stored[key] for key in stored.files if key.startswith(prefix)}
    assert ours["variables"].keys() == values.keys()
    assert ours["metrics"].keys() == theirs["metrics"].keys()
    near = {"rtol": 1e-4, "atol": 1e-4} if model.is_drawn else {"rtol": 1e-5, "atol": 1e-5}
    for key, value in theirs["metrics"].items():
        np.testing.assert_allclose(ours["metrics"][key], value, **near, err_msg=key)
    if not model.is_drawn:
        np.testing.assert_allclose(ours["losses"], theirs["losses"], **near)
    for key, value in values.items():
        if key.endswith("-keys"):
            assert np.unique(ours["variables"][key], axis=0).tolist() == np.unique(value, axis=0).tolist(), key
        elif not key.endswith("-values"):  # the rows of a table are where hashes say
            np.testing.assert_allclose(ours["variables"][key], value, **near, err_msg=key)
