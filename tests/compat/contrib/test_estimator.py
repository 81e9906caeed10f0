"""An Estimator of `tf.contrib.layers` that TensorFlow 1.15.5 trained goes on here, and its layers have paths."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compat.contrib import image_model

from lightwell import tf1

DATA = Path(__file__).parents[2] / "data/oracle-1.15.5"
RECORDED = json.loads((DATA / "contrib_resume.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("contrib") / "model"
    shutil.copytree(DATA / "contrib_model_dir", made)
    return made


@pytest.fixture(scope="module")
def told(folder: Path) -> dict[str, Any]:
    return image_model.train_on(tf1, str(folder))


def test_a_model_of_the_old_tensorflow_trains_on(told: dict[str, Any]) -> None:
    assert set(told["variables"]) == set(RECORDED["variables"])
    for name, value in RECORDED["variables"].items():
        np.testing.assert_allclose(told["variables"][name], value, rtol=2e-4, atol=2e-5, err_msg=name)
    for moment in ("before", "after"):
        assert told[moment] == pytest.approx(RECORDED[moment], rel=1e-4)
    np.testing.assert_allclose(told["logits"], RECORDED["logits"], rtol=1e-3, atol=1e-4)


@pytest.mark.usefixtures("told")
def test_layers_have_paths(folder: Path) -> None:
    made = image_model.estimator(tf1, str(folder))
    taps = ["layers/Conv", "layers/Conv/BatchNorm", "layers/fully_connected", "layers/logits", "layers/MaxPool2D"]
    row = next(made.predict(lambda: image_model.batches(tf1).take(1), taps=taps))
    assert {path: row[path].shape for path in taps} == {
        "layers/Conv": (6, 6, 4),
        "layers/Conv/BatchNorm": (6, 6, 4),
        "layers/fully_connected": (5,),
        "layers/logits": (2,),
        "layers/MaxPool2D": (3, 3, 4),
    }
    np.testing.assert_array_equal(row["layers/logits"], row["logits"])
    np.testing.assert_array_equal(row["layers/Conv"], np.maximum(row["layers/Conv/BatchNorm"], 0))
    assert made.layers["fully_connected"].biases.shape == (5,)
    assert made.weights["fully_connected/weights"].shape == (36, 5)
