"""Estimators made of Keras models give what TensorFlow 2.15.1's gave: every loss, the metrics, predictions, names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.parity import recordings
from tests.parity.keras_scenes import SCENES, STEPS

import lightwell as lw

RECORDED = recordings.load_json("model_to_estimator")["scenes"]
# Keras 3 reports the loss of each output as well.
MORE = {"p_loss", "q_loss"}


@pytest.mark.parametrize("name", SCENES)
def test_a_life_as_recorded(name: str, tmp_path: Path) -> None:
    expected, found = RECORDED[name], SCENES[name](lw.model_to_estimator, tmp_path)
    for moment in ("before", "after"):
        assert set(found[moment]) - MORE == set(expected[moment])
        for metric, value in expected[moment].items():
            np.testing.assert_allclose(found[moment][metric], value, rtol=1e-5, atol=1e-5, err_msg=f"{moment} {metric}")
    assert len(found["losses"]) == STEPS
    np.testing.assert_allclose(found["losses"], expected["losses"], rtol=1e-5, atol=1e-5)
    assert found["prediction"].keys() == expected["prediction"].keys()
    for output, value in expected["prediction"].items():
        np.testing.assert_allclose(found["prediction"][output], value, rtol=1e-4, atol=1e-5)
    assert found["weights"] == expected["weights"]
