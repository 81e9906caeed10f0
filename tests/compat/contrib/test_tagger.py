"""A tagger that TensorFlow 1.15.5 trained goes on here: the same variables, losses, metrics and tags."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import tensorflow as tf
from tests.compat.contrib import same, tagger

import lightwell as lw
from lightwell import tf1

RECORDED = json.loads((same.TARGET / "contrib_tagger.json").read_text())


def test_it_goes_on_from_a_checkpoint_of_1_15(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(same.TARGET / "contrib_tagger_model_dir", folder)
    made = lw.Estimator(tagger.model_fn(tf1.contrib, lw), str(folder))
    ours = tagger.gone_on(made)
    same.assert_same(ours, {key: RECORDED[key] for key in ours}, "tagger", rtol=1e-3, atol=1e-4)
    assert {name: list(shape) for name, shape in tf.train.list_variables(str(folder))} == RECORDED["variables"]
    assert "encoder/bidirectional_rnn/fw/lstm_cell" in made.layers
