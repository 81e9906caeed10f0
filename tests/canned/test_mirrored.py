"""Canned models under MirroredStrategy go on from checkpoints of the original, and to the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.canned import measure, mirrored
from tests.parity import recordings

import lightwell.compat.v1.estimator
import lightwell.estimator

FACES = {"v1": lightwell.compat.v1.estimator, "v2": lightwell.estimator}
RECORDED = recordings.load_json("canned_mirrored")["models"]
STARTS = recordings.load_arrays("canned_mirrored")


@pytest.mark.parametrize("name", ["v2 LinearRegressor"])
def test_goes_on_as_recorded(name: str, tmp_path: Path) -> None:
    case, recorded = mirrored.CASES[name], RECORDED[name]
    measure.write_checkpoint(tmp_path / "model", recordings.under(name, STARTS))
    est = mirrored.made(FACES[case.face], case, tmp_path / "model")
    est.train(case.data(case), steps=mirrored.STEPS)
    np.testing.assert_allclose(measure.losses_of(tmp_path / "model"), recorded["losses"], rtol=1e-5, atol=1e-6)
