"""Exporters do what those of tf.estimator 2.15 did in the same scenes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.parity import recordings
from tests.parity.exporter_scenes import SCENES

import lightwell as lw

RECORDED = recordings.load_json("exporters")["scenes"]
SAME_TEXT = {
    "latest keeps none": "`exports_to_keep`, if provided, must be",
    "latest keeps less": "`exports_to_keep`, if provided, must be",
    "best keeps none": "`exports_to_keep`, if provided, must be a positive number. Got 0",
    "no compare_fn": "`compare_fn` must not be None.",
    "compare_fn of one": "must include current_eval_result argument",
    "compare_fn of other names": "must include best_eval_result argument",
    "compare_fn of any": "must include best_eval_result argument",
    "compare_fn of three": "has following not expected args: ['c']",
}


@pytest.mark.parametrize("name", sorted(set(SCENES) - {"refused", "best_without_a_loss"}))
def test_as_recorded(name: str, tmp_path: Path) -> None:
    assert json.loads(json.dumps(SCENES[name](lw, tmp_path))) == RECORDED[name]


def test_what_was_refused_is_refused_in_the_same_words(tmp_path: Path) -> None:
    ours = SCENES["refused"](lw, tmp_path)
    for name, recorded in RECORDED["refused"].items():
        assert ours[name][:1] == recorded[:1], name
        if name in SAME_TEXT:
            assert SAME_TEXT[name] in recorded[1]
            assert SAME_TEXT[name] in ours[name][1]


def test_a_result_without_a_loss(tmp_path: Path) -> None:
    ours, recorded = SCENES["best_without_a_loss"](lw, tmp_path), RECORDED["best_without_a_loss"]
    assert _shortened(ours) == _shortened(recorded)


def _shortened(scene: dict[str, Any]) -> dict[str, Any]:
    """The part of the texts that programs may look for."""
    words = "cannot be empty or no loss is found in it"
    return {
        name: [[kind, words in text] if one else [] for one in rows for kind, text in [one or ("", "")]]
        for name, rows in scene.items()
    }
