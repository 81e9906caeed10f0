"""Exports are what those of tf.estimator 2.15 were: graphs, signatures field by field, files, log lines, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests.parity import recordings
from tests.parity.export_scenes import SCENES

import lightwell as lw

RECORDED = recordings.load_json("exports")["scenes"]
WRONG = "wrong: "


def test_every_scene_is_recorded() -> None:
    assert list(SCENES) == list(RECORDED)


@pytest.mark.parametrize("name", [name for name in SCENES if not name.startswith(WRONG)])
def test_as_recorded(name: str, tmp_path: Path) -> None:
    ours: Any = json.loads(json.dumps(SCENES[name](lw, tmp_path)))
    assert ours == RECORDED[name]


@pytest.mark.parametrize("name", [name for name in SCENES if name.startswith(WRONG)])
def test_refused_with_the_same_type_and_words(name: str, tmp_path: Path) -> None:
    kind, text = SCENES[name](lw, tmp_path)
    assert kind == RECORDED[name][0]
    assert RECORDED[name][1] in text


def test_one_that_the_original_wrote_serves_here() -> None:
    loaded = tf.saved_model.load(str(recordings.FOLDER / "exported_model"), tags=["serve"])
    features = {"x": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))}
    example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    given = loaded.signatures["serving_default"](examples=tf.constant([example]))
    assert given["output"].shape == (1, 1)
