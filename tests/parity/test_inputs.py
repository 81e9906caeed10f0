"""Whatever way a program hands its data over: the numbers are those of tf.estimator 2.15, and models get the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.parity import recordings
from tests.parity.input_scenes import SCENES

import lightwell as lw

RECORDED = recordings.load_json("inputs")["scenes"]


def test_every_scene_is_recorded() -> None:
    assert list(SCENES) == list(RECORDED)


@pytest.mark.parametrize("name", SCENES)
def test_input(name: str, tmp_path: Path) -> None:
    assert json.loads(json.dumps(SCENES[name](lw, tmp_path))) == RECORDED[name]
