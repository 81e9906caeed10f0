"""Export outputs make the signatures that those of tf.estimator 2.15 made."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from tensorflow.core.protobuf.meta_graph_pb2 import SignatureDef
from tests.parity import recordings, signatures

import lightwell as lw

RECORDED = recordings.load_json("signatures")["signatures"]


@pytest.fixture(scope="module")
def ours() -> dict[str, str]:
    return signatures.outcomes(lw.estimator.export)


def test_every_case_is_recorded(ours: dict[str, str]) -> None:
    assert list(ours) == list(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_the_same_signature(name: str, ours: dict[str, str]) -> None:
    if RECORDED[name].endswith("Error"):
        assert ours[name] == RECORDED[name]
        return
    made, recorded = SignatureDef(), SignatureDef()
    text_format.Parse(ours[name], made)
    text_format.Parse(RECORDED[name], recorded)
    assert made == recorded
