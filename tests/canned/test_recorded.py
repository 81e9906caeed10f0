"""From a checkpoint of tf.estimator 2.15, canned models go on as there: losses, metrics, names, exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.canned import measure
from tests.canned.cases import CASES
from tests.parity import recordings

import lightwell.compat.v1.estimator
import lightwell.estimator

FACES = {"v1": lightwell.compat.v1.estimator, "v2": lightwell.estimator}
RECORDED = recordings.load_json("canned")["cases"]
STARTS = recordings.load_arrays("canned")


@pytest.mark.parametrize("name", CASES)
def test_goes_on_as_recorded(name: str, tmp_path: Path) -> None:
    case, recorded = CASES[name], RECORDED[name]
    measure.write_checkpoint(tmp_path / "model", recordings.under(name, STARTS))
    ours = measure.next_steps(FACES[case.face], case, tmp_path / "model")
    np.testing.assert_allclose(ours["losses"], recorded["losses"], rtol=1e-5, atol=1e-6)
    _close(ours["metrics"], recorded["metrics"])
    _close(ours["predictions"], recorded["predictions"])
    assert ours["variables"] == recorded["variables"]
    assert ours["tags"] == recorded["tags"]
    assert ours["signatures"] == recorded["signatures"]


def _close(ours: dict[str, Any], recorded: dict[str, Any]) -> None:
    assert list(ours) == list(recorded)
    for key, value in recorded.items():
        theirs = np.asarray(value)
        if theirs.dtype.kind in "fiu":
            np.testing.assert_allclose(ours[key], theirs, rtol=1e-5, atol=2e-6, err_msg=key)
        else:
            assert np.asarray(ours[key]).tolist() == theirs.tolist(), key
