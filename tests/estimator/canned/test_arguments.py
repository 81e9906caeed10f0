"""Canned models take the arguments of tf.estimator 2.15 in both faces, by name and by place."""

from __future__ import annotations

import pytest
from tests.estimator.canned.arguments import arguments_of_all
from tests.parity import recordings

import lightwell.compat.v1.estimator
import lightwell.estimator

RECORDED = recordings.load_json("canned_arguments")
FACES = {"v1": lightwell.compat.v1.estimator, "v2": lightwell.estimator}


@pytest.mark.parametrize("face", FACES)
def test_arguments_are_those_of_the_original(face: str) -> None:
    assert arguments_of_all(FACES[face]) == RECORDED[face]
