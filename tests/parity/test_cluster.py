"""In a cluster, ops stand where tf.estimator 2.15 placed them, and it refuses what that refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.parity import recordings
from tests.parity.cluster_scenes import PLACEMENTS, REFUSALS, outcomes

import lightwell as lw

RECORDED = recordings.load_json("cluster")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return outcomes(lw, Path(tmp_path_factory.mktemp("cluster")))


@pytest.mark.parametrize("name", PLACEMENTS)
def test_placement(ours: dict[str, Any], name: str) -> None:
    recorded = RECORDED["placements"][name]
    assert len(recorded) >= 11
    assert ours["placements"][name] == recorded


def test_slots_of_a_ready_made_model_stand_beside_their_variables(ours: dict[str, Any]) -> None:
    recorded = RECORDED["slots of a wide model"]
    assert len(recorded) == 6
    assert all(recorded.values())
    assert ours["slots of a wide model"] == recorded


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_have_the_original_words(ours: dict[str, Any], name: str) -> None:
    kind, text = RECORDED["refusals"][name]
    assert ours["refusals"][name][0] == kind
    assert " ".join(text.split()) in " ".join(ours["refusals"][name][1].split())
