"""A checkpoint of a training over parameter servers is named by the step that it holds.

`tests/estimator/workflow/test_roles.py` holds it for real processes; here a listener stands for the worker that
takes steps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

import lightwell as lw

v1 = tf.compat.v1


class Worker(v1.train.CheckpointSaverListener):
    """Takes two steps whenever a checkpoint is about to be written."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def begin(self) -> None:
        self._step = v1.assign_add(v1.train.get_global_step(), 2)

    def before_save(self, session: Any, global_step_value: int) -> None:
        session.run(self._step)

    def after_save(self, session: Any, global_step_value: int) -> None:
        self.told.append(global_step_value)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_the_name_follows_what_was_saved(tmp_path: Path, most: int) -> None:
    worker = Worker()

    config = lw.RunConfig(str(tmp_path), save_checkpoints_steps=4, keep_checkpoint_max=most)
    config._num_ps_replicas = 1  # as TF_CONFIG tells it
    made = lw.Estimator(tiny.linear, config=config, params={})
    made.train(tiny.data, max_steps=12, saving_listeners=[worker])
    named = sorted(int(path.stem.rpartition("-")[2]) for path in tmp_path.glob("*.index"))
    assert worker.told == [2, 8, 14]
    assert named == worker.told[-most:]
    assert [int(tf.train.load_variable(f"{tmp_path}/model.ckpt-{step}", "global_step")) for step in named] == named
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [Path(path).name for path in state.all_model_checkpoint_paths] == [
        f"model.ckpt-{step}" for step in (named if most else named[-1:])
    ]
    assert tf.train.latest_checkpoint(str(tmp_path)) == f"{tmp_path}/model.ckpt-14"


def test_a_name_that_a_killed_chief_left_wrong_is_put_right_by_the_next(tmp_path: Path) -> None:
    config = lw.RunConfig(str(tmp_path), save_checkpoints_steps=4)
    config._num_ps_replicas = 1
    made = lw.Estimator(tiny.linear, config=config, params={})
    made.train(tiny.data, max_steps=8)
    for file in tmp_path.glob("model.ckpt-8.*"):  # as if it was killed after it saved, and before it read what
        file.rename(tmp_path / file.name.replace("-8.", "-6."))
    (tmp_path / "checkpoint").write_text(
        'model_checkpoint_path: "model.ckpt-6"\n'
        'all_model_checkpoint_paths: "model.ckpt-4"\nall_model_checkpoint_paths: "model.ckpt-6"\n'
    )
    made.train(tiny.data, max_steps=12)
    named = sorted(int(path.stem.rpartition("-")[2]) for path in tmp_path.glob("*.index"))
    assert [int(tf.train.load_variable(f"{tmp_path}/model.ckpt-{step}", "global_step")) for step in named] == named
    assert named == [0, 4, 8, 12]
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert [Path(path).name for path in state.all_model_checkpoint_paths] == [
        "model.ckpt-4",
        "model.ckpt-8",
        "model.ckpt-12",
    ]
