"""A model_dir that tf.estimator 2.15 trained is evaluated, predicted from and trained on as it would itself."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.parity import model_dirs, models, recordings, scenes
from tests.parity.recordings import CLOSE, Pair

import lightwell as lw


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: Any) -> Pair:
    copy = tmp_path_factory.mktemp("resumed") / "model_dir"
    shutil.copytree(recordings.FOLDER / "model_dir", copy)
    ours = scenes.resume(lw, "mlp", copy)
    return Pair(recordings.load_result("resume"), {**ours, "files": model_dirs.files_of_both(copy)})


@pytest.mark.parametrize("which", ["evaluation", "evaluation_after"])
def test_evaluation(resumed: Pair, which: str) -> None:
    recorded, ours = resumed.recorded[which], resumed.ours[which]
    assert list(ours) == list(recorded)
    np.testing.assert_allclose(list(ours.values()), list(recorded.values()), **CLOSE)


def test_predictions(resumed: Pair) -> None:
    for key, value in resumed.recorded["predictions"].items():
        np.testing.assert_allclose(resumed.ours["predictions"][key], value, **CLOSE, err_msg=key)


def test_the_next_ten_losses(resumed: Pair) -> None:
    np.testing.assert_allclose(resumed.ours["losses"], resumed.recorded["losses"], **CLOSE)


def test_the_weights_and_slots_after_them(resumed: Pair) -> None:
    assert resumed.ours["values"].keys() == resumed.recorded["values"].keys()
    for name, value in resumed.recorded["values"].items():
        np.testing.assert_allclose(resumed.ours["values"][name], value, **CLOSE, err_msg=name)


def test_old_checkpoints_stay(resumed: Pair) -> None:
    assert resumed.ours["files"] == resumed.recorded["files"]


def test_an_older_checkpoint_can_be_chosen(tmp_path: Path) -> None:
    copy = tmp_path / "model_dir"
    shutil.copytree(recordings.FOLDER / "model_dir", copy)
    est = lw.Estimator(models.classifier(lw, "mlp"), str(copy), params={})
    result = est.evaluate(models.input_fn("mlp", repeat=False), checkpoint_path=str(copy / "model.ckpt-15"))
    assert result["global_step"] == 15
    assert est.get_variable_names() == list(model_dirs.variables(copy))
    assert est.get_variable_value("global_step") == 30
