"""Hooks and checkpoint listeners are called in the order in which tf.estimator 2.15 called them; whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.parity import recordings
from tests.parity.hook_scenes import SCENES

import lightwell as lw

RECORDED = recordings.load_json("hook_order")["scenes"]


def test_every_scene_is_recorded() -> None:
    assert list(SCENES) == list(RECORDED)


@pytest.mark.parametrize("name", SCENES)
def test_calls_and_outcome(name: str, tmp_path: Path) -> None:
    result = SCENES[name](lw, tmp_path)
    assert [" ".join(map(str, call)) for call in result["calls"]] == RECORDED[name]["calls"]
    assert result["outcome"] == RECORDED[name]["outcome"]
