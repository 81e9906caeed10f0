"""A checkpoint is restored, or said not to fit; one that is damaged or gone has another in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tests import tiny
from tests.conftest import LogLines

import lightwell as lw
from lightwell.errors import CheckpointMismatch, CheckpointUnreadable

v1 = tf.compat.v1


def other_model(features: Any, labels: Any, mode: str) -> Any:
    v1.get_variable("extra", [3])
    v1.get_variable("w2", [])
    return tiny.linear(features, labels, mode, {})


@pytest.mark.parametrize("doing", ["train", "evaluate", "predict"])
def test_a_checkpoint_of_another_model_is_told_as_a_table(tmp_path: Path, doing: str) -> None:
    tiny.trained(tmp_path)
    made = tiny.estimator(tmp_path, other_model)
    acts = {
        "train": lambda: made.train(tiny.once, steps=1),
        "evaluate": lambda: made.evaluate(tiny.once),
        "predict": lambda: next(made.predict(tiny.once)),
    }
    with pytest.raises(
        CheckpointMismatch, match=r"model\.ckpt-2 does not fit this model: 2 of 5 variables differ"
    ) as e:
        acts[doing]()
    assert "  extra     [3]    -" in str(e.value).splitlines()
    assert "warm_start_from" in str(e.value)


def test_another_shape_is_told_too(tmp_path: Path) -> None:
    def wide(features: Any, labels: Any, mode: str) -> Any:
        w = v1.get_variable("w", [2], initializer=v1.ones_initializer())
        b = v1.get_variable("b", [])
        loss = tf.reduce_sum(w) + b
        step = v1.train.get_global_step()
        return lw.EstimatorSpec(mode, loss=loss, train_op=v1.assign_add(step, 1))

    tiny.trained(tmp_path)
    with pytest.raises(CheckpointMismatch, match=r"w +\[2\] +\[\]"):
        tiny.estimator(tmp_path, wide).train(tiny.once, steps=1)


def test_variables_that_only_the_checkpoint_has_do_no_harm(tmp_path: Path) -> None:
    tiny.estimator(tmp_path, other_model).train(tiny.once, steps=1)
    assert tiny.estimator(tmp_path).evaluate(tiny.once)["global_step"] == 1


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[2] ^= 0xFF
    file.write_bytes(bytes(content))


def test_damage_that_shows_only_on_reading_falls_back_to_an_older_one(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=3, save_checkpoints_steps=1)
    flip(tmp_path / "model.ckpt-3.data-00000-of-00001")
    assert made.evaluate(tiny.once)["global_step"] == 2
    (line,) = log.having("model.ckpt-3 is damaged")
    assert "Checksum does not match" in line
    assert "Trying an older one" in line
    made.train(tiny.data, max_steps=4)
    assert made.evaluate(tiny.once)["global_step"] == 4


def test_a_damaged_checkpoint_that_was_asked_for_by_name_is_an_error(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=3, save_checkpoints_steps=1)
    flip(tmp_path / "model.ckpt-2.data-00000-of-00001")
    text = r"model\.ckpt-2 is damaged \(.*Checksum.*asked for by checkpoint_path; name another one"
    with pytest.raises(CheckpointUnreadable, match=text):
        made.evaluate(tiny.once, checkpoint_path=tmp_path / "model.ckpt-2")
    with pytest.raises(CheckpointUnreadable, match=text):
        next(made.predict(tiny.once, checkpoint_path=tmp_path / "model.ckpt-2"))
    assert made.evaluate(tiny.once)["global_step"] == 3


def test_nothing_but_damage_is_an_error(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1)
    for step in (0, 1):
        flip(tmp_path / f"model.ckpt-{step}.data-00000-of-00001")
    text = r"model\.ckpt-1 is damaged \(.*Checksum.*model\.ckpt-0 is damaged.*No older checkpoint can be read; restore"
    with pytest.raises(CheckpointUnreadable, match=text):
        made.evaluate(tiny.once)


def test_old_checkpoints_of_an_earlier_process_are_counted_and_removed(tmp_path: Path) -> None:
    for goal in (2, 4, 6):
        tiny.estimator(tmp_path, save_checkpoints_steps=1, keep_checkpoint_max=3).train(tiny.data, max_steps=goal)
    steps = sorted(int(file.stem.rpartition("-")[2]) for file in tmp_path.glob("*.index"))
    assert steps == [4, 5, 6]


def test_a_checkpoint_from_elsewhere_is_restored_as_it_is(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path / "a", steps=3, save_checkpoints_steps=1)
    other = tiny.estimator(tmp_path / "b")
    path = tmp_path / "a" / "model.ckpt-2"
    assert other.evaluate(tiny.once, checkpoint_path=path)["global_step"] == 2
    row = next(other.predict(tiny.once, checkpoint_path=str(path)))
    reader = tf.train.load_checkpoint(str(path))
    assert np.isclose(row["out"], reader.get_tensor("w") + reader.get_tensor("b"))
    assert made.evaluate(tiny.once)["global_step"] == 3


def trained_meanwhile(directory: Path, steps: int) -> Any:
    """Batches, and while they are made another Estimator trains on in the directory, and deletes old checkpoints."""

    def input_fn() -> Any:
        with tf.init_scope():
            tiny.estimator(directory, keep_checkpoint_max=1).train(tiny.data, steps=steps)
        return tiny.once()

    return input_fn


def test_a_checkpoint_that_a_training_deletes_meanwhile_is_replaced_by_the_next(tmp_path: Path, log: LogLines) -> None:
    made = tiny.trained(tmp_path, steps=1, keep_checkpoint_max=1)
    assert made.evaluate(trained_meanwhile(tmp_path, 2))["global_step"] == 3
    (line,) = log.having("deleted meanwhile")
    assert line == f"INFO Checkpoint {tmp_path}/model.ckpt-1 has been deleted meanwhile; took {tmp_path}/model.ckpt-3."
    assert log.having(f"Saving 'checkpoint_path' summary for global step 3: {tmp_path}/model.ckpt-3")
    hooks = [v1.train.SessionRunHook()]
    assert made.evaluate(trained_meanwhile(tmp_path, 1), hooks=hooks)["global_step"] == 4
    rows = list(made.predict(trained_meanwhile(tmp_path, 1)))
    w, b = made.get_variable_value("w"), made.get_variable_value("b")
    assert np.allclose([row["out"] for row in rows], w * tiny.X + b)
    assert made.latest_checkpoint() == f"{tmp_path}/model.ckpt-5"
    assert made.evaluate(tiny.once)["global_step"] == 5
    assert made.evaluate(trained_meanwhile(tmp_path, 1))["global_step"] == 6, "also in a session that is open already"


def test_one_that_was_asked_for_by_name_is_not_replaced(tmp_path: Path) -> None:
    made = tiny.trained(tmp_path, steps=1, keep_checkpoint_max=1)
    with pytest.raises(CheckpointUnreadable, match=r"model\.ckpt-1 cannot be read"):
        made.evaluate(trained_meanwhile(tmp_path, 2), checkpoint_path=tmp_path / "model.ckpt-1")
