"""What a subclass may override is what it might in tf.estimator 2.15, and what packages read of an object is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parity import members, recordings

import lightwell as lw

RECORDED = recordings.load_json("members")
ALL = ["train", "evaluate", "predict"]
# There an override of these two is allowed and never called; here it does what it says.
DIFFERENT = {"model_fn": ALL, "latest_checkpoint": ["evaluate", "predict"]}


@pytest.mark.parametrize("name", RECORDED["members"])
def test_overriding(name: str, tmp_path: Path) -> None:
    assert members.verdicts(lw, [name], tmp_path) == {name: RECORDED["members"][name]}


def test_overrides_that_verbs_call(tmp_path: Path) -> None:
    assert members.noticed(lw, tmp_path) == {**RECORDED["noticed"], **DIFFERENT}


def test_a_class_that_takes_the_seal_off_overrides(tmp_path: Path) -> None:
    assert members.unsealed(lw, tmp_path) == RECORDED["unsealed"]


def test_fields(tmp_path: Path) -> None:
    assert set(RECORDED["fields"]) <= set(members.fields(lw, tmp_path))
