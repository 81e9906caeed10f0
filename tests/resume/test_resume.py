"""A model_dir that TensorFlow 1.15.5 or 2.15.1 trained is evaluated, predicted from and trained on as there."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.resume import models

import lightwell

DATA = Path(__file__).parents[1] / "data"
VERSIONS = ("1.15.5", "2.15.1")
OURS = models.Library(lightwell, lightwell.layers, lightwell.rnn_cell)


class Pair(NamedTuple):
    """What was recorded, and what came here: numbers and arrays of each."""

    recorded: dict[str, Any]
    recorded_arrays: dict[str, Any]
    ours: dict[str, Any]
    our_arrays: dict[str, Any]

    def arrays(self, group: str) -> list[tuple[str, Any, Any]]:
        """Name, ours and recorded of every array in a group."""
        named = [name for name in self.recorded_arrays if name.startswith(f"{group}:")]
        return [(name, self.our_arrays[name], self.recorded_arrays[name]) for name in named]


@pytest.fixture(scope="module", params=itertools.product(VERSIONS, models.KINDS), ids="-".join)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    version, kind = request.param
    folder = DATA / f"oracle-{version}"
    content = json.loads((folder / "resume_models.json").read_text())
    assert content["tensorflow"] == version
    with np.load(folder / f"resume_{kind}.npz") as stored:
        arrays = {name: stored[name] for name in stored.files if name != "tensorflow"}
    copy = tmp_path_factory.mktemp("resume") / kind
    shutil.copytree(folder / f"resume_{kind}_model_dir", copy)
    return Pair(content[kind], arrays, *models.resume(OURS, kind, str(copy)))


def test_predictions(pair: Pair) -> None:
    for name, ours, recorded in pair.arrays("predictions"):
        np.testing.assert_allclose(ours, recorded, rtol=1e-5, atol=1e-5, err_msg=name)


def test_evaluation(pair: Pair) -> None:
    assert list(pair.ours["evaluation"]) == list(pair.recorded["evaluation"])
    assert pair.ours["evaluation"] == pytest.approx(pair.recorded["evaluation"], rel=1e-5)
    assert pair.ours["evaluation"]["global_step"] == 20


def test_the_next_ten_losses(pair: Pair) -> None:
    assert len(pair.ours["losses"]) == 10
    np.testing.assert_allclose(pair.ours["losses"], pair.recorded["losses"], rtol=1e-4)


def test_the_weights_statistics_and_slots_after_them(pair: Pair) -> None:
    assert pair.ours["variables"] == pair.recorded["variables"]
    for name, ours, recorded in pair.arrays("values"):
        np.testing.assert_allclose(ours, recorded, rtol=1e-4, atol=1e-6, err_msg=name)
