"""Canned models under MirroredStrategy go on from checkpoints of the original, and to the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.estimator.canned import measure, mirrored
from tests.parity import recordings

import lightwell.compat.v1.estimator
import lightwell.estimator

FACES = {"v1": lightwell.compat.v1.estimator, "v2": lightwell.estimator}
RECORDED = recordings.load_json("canned_mirrored")["models"]
STARTS = recordings.load_arrays("canned_mirrored")


# One of each face, in one of which a loss is a mean, in the other a sum; the others have the same reductions.
USUAL = ("v1 LinearRegressor", "v2 DNNClassifier batch_norm")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in USUAL else pytest.mark.slow) for name in mirrored.CASES]
)
def test_goes_on_as_recorded(name: str, tmp_path: Path) -> None:
    case, recorded = mirrored.CASES[name], RECORDED[name]
    measure.write_checkpoint(tmp_path / "model", recordings.under(name, STARTS))
    est = mirrored.made(FACES[case.face], case, tmp_path / "model")
    est.train(case.data(case), steps=mirrored.STEPS)
    np.testing.assert_allclose(measure.losses_of(tmp_path / "model"), recorded["losses"], rtol=1e-5, atol=1e-6)
    if recorded["metrics"]:
        metrics = est.evaluate(case.data(case), steps=2)
        # That of the original comes out below what guessing one class gets, 0.25 of two classes.
        expected = {name: value for name, value in recorded["metrics"].items() if name != "accuracy_baseline"}
        assert {name: metrics[name] for name in expected} == pytest.approx(expected, rel=1e-5, abs=1e-6)
