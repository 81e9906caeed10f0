"""Names and values inside a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from lightwell.errors import CheckpointUnreadable, UsageError
from lightwell.run.checkpoints.reader import nearest_names, open_checkpoint, variable_names, variable_value

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def saved(tmp_path_factory: Any) -> str:
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("dense/kernel", [200], initializer=v1.ones_initializer())
        v1.get_variable("dense/bias", [], initializer=v1.zeros_initializer())
        v1.get_variable("global_step", initializer=tf.constant(3, tf.int64))
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(tmp_path_factory.mktemp("saved") / "model.ckpt"), 3)


def test_names_are_sorted(saved: str) -> None:
    assert variable_names(saved) == ["dense/bias", "dense/kernel", "global_step"]


def test_values_keep_their_shape_and_type(saved: str) -> None:
    assert np.array_equal(variable_value(saved, "dense/kernel"), np.ones(200, np.float32))
    assert variable_value(saved, "global_step") == 3
    assert np.asarray(variable_value(saved, "global_step")).dtype == np.int64
    assert np.shape(variable_value(saved, "dense/bias")) == ()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("kernel", r"The nearest names are \['dense/kernel'"),
        ("Dense/Kernel", r"The nearest names are \['dense/kernel'"),
        ("dense/kernl", r"The nearest names are \['dense/kernel'"),
        ("zzz", r"It has \['dense/bias', 'dense/kernel', 'global_step'\]"),
    ],
)
def test_an_unknown_name_gets_the_nearest(saved: str, name: str, hint: str) -> None:
    with pytest.raises(
        UsageError, match=rf"Key {name} not found in checkpoint: .*model\.ckpt-3 has no variable '{name}'\. {hint}"
    ):
        variable_value(saved, name)


def test_a_tensors_name_is_its_variables_name(saved: str) -> None:
    assert variable_value(saved, "dense/bias:0") == variable_value(saved, "dense/bias")
    with pytest.raises(tf.errors.NotFoundError, match=r"Key dense/bias:1 not found in checkpoint") as caught:
        variable_value(saved, "dense/bias:1")
    assert isinstance(caught.value, ValueError)


def test_a_long_list_is_cut() -> None:
    assert nearest_names("zzz", [f"{letter}1" for letter in "abcdefghijklmnopqrstuvwxy"]).endswith("'t1'] ….")


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(CheckpointUnreadable, match=r"Checkpoint .*/none cannot be read: .*Failed to find any matching"):
        open_checkpoint(str(tmp_path / "none"))


@pytest.mark.parametrize("kept", [100, 799])
def test_a_damaged_value_says_which(saved: str, tmp_path: Path, kept: int) -> None:
    source = Path(saved)
    for file in source.parent.glob("model.ckpt-3.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    data = tmp_path / "model.ckpt-3.data-00000-of-00001"
    content = data.read_bytes()
    data.write_bytes(content[:kept] + b"\xff" + content[kept + 1 :] if kept == 100 else content[:kept])
    with pytest.raises(CheckpointUnreadable, match=r"the value of 'dense/kernel' is damaged \(.+\)\."):
        variable_value(str(tmp_path / "model.ckpt-3"), "dense/kernel")
