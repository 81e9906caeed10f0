"""Checkpoints are copied, removed and named so that a reader never meets half of one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import tiny

from lightwell.errors import CheckpointUnreadable
from lightwell.run.checkpoints import files


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: Any) -> str:
    return str(tiny.trained(tmp_path_factory.mktemp("model")).latest_checkpoint())


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


ENDINGS = [".data-00000-of-00001", ".index", ".meta"]


def test_a_copy_takes_no_space_where_there_are_links(checkpoint: str, tmp_path: Path) -> None:
    copy = files.copy_checkpoint(checkpoint, str(tmp_path / "there"))
    assert names(tmp_path / "there") == [f"model.ckpt-2{ending}" for ending in ENDINGS]
    assert all(os.path.samefile(copy + ending, checkpoint + ending) for ending in ENDINGS)
    assert files.copy_checkpoint(checkpoint, str(tmp_path / "there")) == copy, "again, it is there"


def test_without_links_it_is_copied(checkpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*paths: str) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refused)
    copy = files.copy_checkpoint(checkpoint, str(tmp_path))
    assert names(tmp_path) == [f"model.ckpt-2{ending}" for ending in ENDINGS]
    assert files.same_checkpoint(copy, checkpoint)
    assert tf.train.load_variable(copy, "w") == tf.train.load_variable(checkpoint, "w")


def test_one_of_the_same_name_is_replaced(checkpoint: str, tmp_path: Path) -> None:
    other = str(tiny.trained(tmp_path / "model", params={"learning_rate": 0.01}).latest_checkpoint())
    files.copy_checkpoint(other, str(tmp_path / "there"))
    copy = files.copy_checkpoint(checkpoint, str(tmp_path / "there"))
    assert tf.train.load_variable(copy, "w") == tf.train.load_variable(checkpoint, "w")


def test_what_is_gone_or_goes_meanwhile_leaves_nothing(
    checkpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckpointUnreadable, match=r"model.ckpt-7 cannot be copied to .*: it is not there any more"):
        files.copy_checkpoint(str(tmp_path / "model.ckpt-7"), str(tmp_path))
    link = os.link

    def deleted_meanwhile(source: str, target: str) -> None:
        if source.endswith(".index"):
            raise FileNotFoundError(2, "No such file or directory", source)
        link(source, target)

    monkeypatch.setattr(os, "link", deleted_meanwhile)
    with pytest.raises(CheckpointUnreadable, match="was deleted while it was copied"):
        files.copy_checkpoint(checkpoint, str(tmp_path))
    assert names(tmp_path) == []


def test_names_without_the_directory_so_that_it_can_be_moved(checkpoint: str, tmp_path: Path) -> None:
    first = tmp_path / "first"
    copy = files.copy_checkpoint(checkpoint, str(first))
    files.name_checkpoints(str(first), [copy])
    first.rename(tmp_path / "moved")
    assert tf.train.latest_checkpoint(str(tmp_path / "moved")) == str(tmp_path / "moved" / "model.ckpt-2")
    files.name_checkpoints(str(tmp_path / "moved"), [])
    assert tf.train.latest_checkpoint(str(tmp_path / "moved")) is None


def test_going_back_keeps_the_others(tmp_path: Path) -> None:
    est = tiny.estimator(tmp_path, save_checkpoints_steps=2)
    est.train(tiny.data, steps=6)
    assert files.make_newest(str(tmp_path), f"{tmp_path}/model.ckpt-2") == est.latest_checkpoint()
    assert est.evaluate(tiny.once)["global_step"] == 2
    known = tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
    assert [os.path.basename(path) for path in known] == [f"model.ckpt-{step}" for step in (0, 4, 6, 2)]
