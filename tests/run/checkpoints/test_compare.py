"""A checkpoint that does not fit is told as a table."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import tensorflow as tf

from lightwell.errors import CheckpointMismatch
from lightwell.run.checkpoints.compare import ValueSpec, check_fits

v1 = tf.compat.v1


@pytest.fixture(scope="module")
def saved(tmp_path_factory: Any) -> str:
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("old/kernel", [2, 3])
        v1.get_variable("bias", [3])
        v1.get_variable("step", [])
        session.run(v1.global_variables_initializer())
        return v1.train.Saver().save(session, str(tmp_path_factory.mktemp("saved") / "model.ckpt"), 3)


def form(*shape: int | None, dtype: Any = tf.float32) -> ValueSpec:
    return ValueSpec(shape, dtype)


def test_what_fits_passes(saved: str) -> None:
    check_fits(saved, [("old/kernel", form(2, 3)), ("step", form())])
    check_fits(saved, [("old/kernel", form(None, 3))])
    check_fits(saved, [])


def test_the_table_shows_both_sides_and_the_likely_old_name(saved: str) -> None:
    with pytest.raises(CheckpointMismatch) as caught:
        check_fits(saved, [("kernel", form(2, 3)), ("bias", form(4)), ("step", form())])
    assert str(caught.value).splitlines() == [
        "Restoring from checkpoint failed: Key kernel not found in checkpoint. "
        f"Checkpoint {saved} does not fit this model: 2 of 3 variables differ.",
        "  variable    model   checkpoint",
        "  kernel      [2, 3]  -",
        "  bias        [4]     [3]",
        "  old/kernel  -       [2, 3]",
        "Use the model_fn and params it was trained with, or another model_dir; to take over the weights that still "
        "fit, start a new model_dir with warm_start_from.",
    ]


def test_another_rank_differs_and_an_unknown_size_shows_as_a_question(saved: str) -> None:
    with pytest.raises(CheckpointMismatch, match=r"bias +\[\?, 3\] +\[3\]"):
        check_fits(saved, [("bias", form(None, 3))])


def test_another_type_is_shown(saved: str) -> None:
    with pytest.raises(CheckpointMismatch, match=r"bias +\[3\] float64 +\[3\] float32"):
        check_fits(saved, [("bias", form(3, dtype=tf.float64))])


def test_they_can_be_caught_as_what_tensorflow_raises_and_travel(saved: str) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="Key kernel not found in checkpoint") as caught:
        check_fits(saved, [("kernel", form(2, 3))])
    assert isinstance(caught.value, ValueError)
    assert caught.value.error_code == tf.errors.NOT_FOUND
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (type(caught.value), str(caught.value))
    mismatch = (
        "Restoring from checkpoint failed: a mismatch between the current graph and the graph from the checkpoint"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=mismatch):
        check_fits(saved, [("bias", form(4))])


def test_a_long_table_is_cut(saved: str) -> None:
    with pytest.raises(CheckpointMismatch) as caught:
        check_fits(saved, [(f"v{number}", form(1)) for number in range(40)])
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 + 1 + 30 + 1 + 1
    assert lines[-2] == "  … and 13 more"
