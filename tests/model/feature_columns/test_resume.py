"""A model over columns that tf.estimator 2.15 trained: evaluated, predicted from and trained on as it would itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.model.feature_columns import recorded, trips

import lightwell as lw


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: Any) -> dict[str, Any]:
    copy = tmp_path_factory.mktemp("resumed") / "model_dir"
    shutil.copytree(recorded.MODEL_DIR, copy)
    return trips.resume(lw, str(copy))


def test_predictions(resumed: dict[str, Any]) -> None:
    for key, value in recorded.resumed()["predictions"].items():
        np.testing.assert_allclose(resumed["predictions"][key], value, rtol=1e-5, atol=1e-5, err_msg=key)


def test_evaluation(resumed: dict[str, Any]) -> None:
    expected = recorded.resumed()["evaluation"]
    assert list(resumed["evaluation"]) == list(expected)
    np.testing.assert_allclose(list(resumed["evaluation"].values()), list(expected.values()), rtol=1e-5)


def test_variables(resumed: dict[str, Any]) -> None:
    assert resumed["variables"] == recorded.resumed()["variables"]


def test_the_next_ten_losses(resumed: dict[str, Any]) -> None:
    np.testing.assert_allclose(resumed["losses"], recorded.resumed()["losses"], rtol=1e-4)


def test_a_fresh_model_starts_and_trains_alike(tmp_path: Path) -> None:
    np.testing.assert_allclose(trips.train(lw, str(tmp_path), steps=20), recorded.resumed()["fresh"], rtol=1e-4)
