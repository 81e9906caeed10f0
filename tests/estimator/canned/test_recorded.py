"""From a checkpoint of tf.estimator 2.15, canned models go on as there: losses, metrics, names, exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.estimator.canned import cases, clusters, measure, sequences
from tests.parity import recordings

import lightwell.compat.v1.estimator
import lightwell.estimator

FACES = {"v1": lightwell.compat.v1.estimator, "v2": lightwell.estimator}
FILES = {"canned": cases.CASES, "canned_rnn": sequences.CASES, "canned_kmeans": clusters.CASES}
RECORDED = {file: recordings.load_json(file)["cases"] for file in FILES}
STARTS = {file: recordings.load_arrays(file) for file in FILES}
# Each model as it comes is usual work; of their options, which take minutes together, a few stand for all.
QUICK = {
    "v2 RNNClassifier lstm",
    "v2 RNNClassifier steps",
    "v1 LinearRegressor partitioner",
    "v2 LinearRegressor Adam",
    "v2 DNNClassifier batch_norm",
    "v1 DNNClassifier Adam object",
}


def _is_usual(file: str, name: str) -> bool:
    if "Combined" in name and not name.endswith("Classifier"):  # the slowest, made of the same parts
        return False
    return name in QUICK or file == "canned_kmeans" or (file == "canned" and len(name.split()) == 2)


EACH = [
    pytest.param(file, name, marks=[] if _is_usual(file, name) else [pytest.mark.slow])
    for file, found in FILES.items()
    for name in found
]


@pytest.mark.parametrize(("file", "name"), EACH)
def test_goes_on_as_recorded(file: str, name: str, tmp_path: Path) -> None:
    case, recorded = FILES[file][name], RECORDED[file][name]
    measure.write_checkpoint(tmp_path / "model", recordings.under(name, STARTS[file]))
    ours = measure.next_steps(FACES[case.face], case, tmp_path / "model")
    np.testing.assert_allclose(ours["losses"], recorded["losses"], rtol=1e-5, atol=1e-6)
    _close(ours["metrics"], recorded["metrics"])
    _close(ours["predictions"], recorded["predictions"])
    assert ours["variables"] == recorded["variables"]
    assert ours["tags"] == recorded["tags"]
    assert _signatures(ours["signatures"], recorded["signatures"]) == recorded["signatures"]


def _signatures(ours: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Ours, without the shapes that the original did not know."""
    for name, (_, *tensors) in recorded.items():
        for mine, theirs in zip(ours.get(name, ["", [], []])[1:], tensors, strict=True):
            for one, other in zip(mine, theirs, strict=False):
                one[2] = "unknown" if other[2] == "unknown" else one[2]
    return ours


def _close(ours: dict[str, Any], recorded: dict[str, Any]) -> None:
    assert list(ours) == list(recorded)
    for key, value in recorded.items():
        theirs = np.asarray(value)
        if theirs.dtype.kind in "fiu":
            np.testing.assert_allclose(ours[key], theirs, rtol=1e-5, atol=2e-6, err_msg=key)
        else:
            assert np.asarray(ours[key]).tolist() == theirs.tolist(), key
