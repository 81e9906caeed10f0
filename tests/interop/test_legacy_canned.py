"""Optimizers of tf_keras in a canned model: numbers and names of state as in tf.estimator 2.15."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.canned import old_optimizers
from tests.interop.builds import keras
from tests.parity import recordings

import lightwell.estimator

RECORDED = recordings.load_json("old_optimizers")["variables"]


@pytest.mark.parametrize("name", old_optimizers.OPTIMIZERS)
def test_a_canned_model_trains_as_recorded(name: str, tmp_path: Path) -> None:
    ours, recorded = old_optimizers.trained(lightwell.estimator, keras.optimizers, name, tmp_path), RECORDED[name]
    assert list(ours) == list(recorded)
    for key, value in recorded.items():
        np.testing.assert_allclose(ours[key], value, rtol=1e-5, atol=1e-7, err_msg=key)
