"""tf.estimator 2.15 itself evaluates, predicts from and trains on a model_dir that we wrote, with the numbers we get.

Needs LIGHTWELL_ORACLE: the Python of an environment with tensorflow 2.15.1. Run by `make test-oracle`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.parity import models, scenes
from tests.parity.recordings import CLOSE, Pair

import lightwell as lw

pytestmark = pytest.mark.oracle
ROOT = Path(__file__).parents[2]


def resumed_by_the_oracle(kind: str, model_dir: Path, out: Path) -> dict[str, Any]:
    python = os.environ.get("LIGHTWELL_ORACLE")
    if not python:
        pytest.fail("set LIGHTWELL_ORACLE to the Python of an environment with tensorflow 2.15.1")
    command = [python, "-m", "tests.oracle.resume_model_dir", kind, str(model_dir), str(out)]
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "TF_CONFIG")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(out / "arrays.npz") as stored:
        arrays = {key: stored[key] for key in stored.files}
    return {**json.loads((out / "numbers.json").read_text()), **arrays}


@pytest.fixture(scope="module", params=["mlp", "cnn", "edited cnn"])
def both(request: Any, tmp_path_factory: Any) -> Pair:
    kind, is_edited = request.param.removeprefix("edited "), request.param.startswith("edited")
    scratch = tmp_path_factory.mktemp("ours")
    est = lw.Estimator(
        models.classifier(lw, kind),
        str(scratch / "trained"),
        scenes.run_config(lw),
        params={"initial": models.initial_values(kind)},
    )
    est.train(models.input_fn(kind, repeat=True), steps=30)
    est.evaluate(models.input_fn(kind, repeat=False))
    if is_edited:
        name = next(name for name in est.weights if name.endswith("kernel"))
        with est.edit() as w:
            w[name] *= 0.5
            w.reset_slots(name)
    for name in ("for_the_oracle", "for_us"):
        shutil.copytree(scratch / "trained", scratch / name)
    recorded = resumed_by_the_oracle(kind, scratch / "for_the_oracle", scratch)
    ours = scenes.resume(lw, kind, scratch / "for_us")
    return Pair(recorded, ours)


@pytest.mark.parametrize("which", ["evaluation", "evaluation_after"])
def test_it_evaluates(both: Pair, which: str) -> None:
    assert both.ours[which].keys() == both.recorded[which].keys()
    np.testing.assert_allclose(list(both.ours[which].values()), list(both.recorded[which].values()), **CLOSE)


def test_it_predicts(both: Pair) -> None:
    for key, value in both.ours["predictions"].items():
        np.testing.assert_allclose(both.recorded[f"predictions:{key}"], value, **CLOSE, err_msg=key)


def test_it_trains_on(both: Pair) -> None:
    np.testing.assert_allclose(both.ours["losses"], both.recorded["losses"], **CLOSE)


def test_it_ends_with_the_same_weights_and_slots(both: Pair) -> None:
    for name, value in both.ours["values"].items():
        np.testing.assert_allclose(both.recorded[f"values:{name}"], value, **CLOSE, err_msg=name)
