"""Listeners with work of their own: a training saves where they need a checkpoint, and shows what they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


def saved(model_dir: Path) -> list[int]:
    return sorted(int(path.stem.split("-")[1]) for path in model_dir.glob("model.ckpt-*.index"))


@pytest.mark.parametrize("settings", [{}, {"save_checkpoints_steps": None, "save_checkpoints_secs": 3600}])
@pytest.mark.parametrize("fuse", ["auto", False])
def test_checkpoints_come_where_they_are_needed_and_by_the_own_cadence(
    tmp_path: Path, settings: dict[str, Any], fuse: Any
) -> None:
    made = tiny.estimator(
        tmp_path, keep_checkpoint_max=None, **{"save_checkpoints_steps": 5, **settings}, fuse_steps=fuse
    )
    spec = lw.EvalSpec(tiny.once, None, every_steps=7)
    lw.train_and_evaluate(made, lw.TrainSpec(tiny.data, 20), spec)
    by_steps = [0, 5, 7, 12, 14, 19, 20]
    assert saved(tmp_path) == (by_steps if not settings else [0, 7, 14, 20])


def test_a_training_alone_saves_as_ever(tmp_path: Path) -> None:
    made = tiny.estimator(tmp_path, keep_checkpoint_max=None, save_checkpoints_steps=5)
    made.train(tiny.data, steps=12)
    assert saved(tmp_path) == [0, 5, 10, 12]
