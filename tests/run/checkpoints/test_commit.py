"""An edit is there as a whole or not at all: after kills, on a full disk, beside others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from tests import children, tiny

import lightwell as lw
from lightwell.errors import ModelDirError, ModelInUse, UsageError
from lightwell.run.checkpoints import commit

ROOT = Path(__file__).parents[3]


def set_all(est: lw.Estimator, value: float) -> str | None:
    with est.edit() as weights:
        for name in weights:
            weights[name][...] = value
    return weights.checkpoint


def states_after_kills(directory: Path, how_many: int, seed: int) -> list[float]:
    """The values after each of so many kills; checks that each is the state of one edit, and of no other thing."""
    est = tiny.trained(directory / "model", keep_checkpoint_max=3)
    set_all(est, 1.0)
    command = [sys.executable, "-m", "tests.run.checkpoints.edit_until_killed"]
    arguments = [est.model_dir, str(directory / "copies"), str(how_many), str(seed)]
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, env=children.environment(ROOT), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    values = []
    for number in range(how_many):
        left = tiny.estimator(directory / "copies" / str(number))
        assert float(left.weights["w"]) == float(left.weights["b"]), "half an edit"
        values.append(float(left.weights["w"]))
        lineage = left.lineage()
        newest = next(row for row in lineage if row.checkpoint == lineage.newest)
        assert newest.by == "edit"
        assert newest.parent is not None
        assert lineage.newest == os.path.basename(str(left.latest_checkpoint()))
        set_all(left, -1.0)
        assert not [name for name in os.listdir(left.model_dir) if name.startswith((".edit-", "checkpoint."))]
        left.revert()
        assert float(left.weights["w"]) == values[-1]
    assert values == sorted(values), "a state that was reached is not lost"
    return values


def test_killed_at_three_moments(tmp_path: Path) -> None:
    assert len(states_after_kills(tmp_path, 3, seed=1)) == 3


@pytest.mark.slow
def test_killed_at_fifty_moments(tmp_path: Path) -> None:
    assert len(set(states_after_kills(tmp_path, 50, seed=2))) == 50


@pytest.mark.parametrize("fails", ["copy_checkpoint", "append_origin", "name_checkpoints"])
def test_a_disk_that_fills_up_leaves_the_model_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    est = tiny.trained(tmp_path)
    before = sorted(os.listdir(tmp_path))

    def full(*args: Any, **kwargs: Any) -> None:
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(commit, fails, full)
    with pytest.raises(
        ModelDirError, match=r"edit: the new checkpoint could not be written .* No space left"
    ) as caught:
        set_all(est, 7.0)
    assert "The model is as it was" in str(caught.value)
    assert [name for name in sorted(os.listdir(tmp_path)) if name not in before] in ([], ["lineage.jsonl"])
    assert float(est.weights["w"]) != 7.0
    assert [row.by for row in est.lineage()] == ["train", "train"]


def test_whoever_comes_second_is_told(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path)

    def slow_edit() -> None:
        with est.edit() as weights:
            weights["w"][...] = 3
            est.train(tiny.data, steps=1)

    with pytest.raises(ModelInUse, match=r"since this edit began from .*model\.ckpt-2: somebody trained"):
        slow_edit()
    assert [row.checkpoint for row in est.lineage()] == ["model.ckpt-0", "model.ckpt-2", "model.ckpt-3"]


def test_as_many_as_the_config_says_are_kept_and_the_parent(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path, keep_checkpoint_max=2)
    for value in range(4):
        set_all(est, float(value + 10))
    kept = ["model.ckpt-edit3-2", "model.ckpt-edit4-2"]
    assert [row.checkpoint for row in est.lineage()] == kept
    assert sorted(name for name in os.listdir(tmp_path) if name.endswith(".index")) == [f"{one}.index" for one in kept]
    est.train(tiny.data, steps=2)
    assert [row.checkpoint for row in est.lineage()] == ["model.ckpt-edit4-2", "model.ckpt-4"]
    alone = tiny.trained(tmp_path / "alone", keep_checkpoint_max=1)
    set_all(alone, 5.0)
    assert [row.checkpoint for row in alone.lineage()] == ["model.ckpt-2", "model.ckpt-edit1-2"]


def test_going_back_refuses_what_is_not_known_or_not_there(tmp_path: Path) -> None:
    est = tiny.trained(tmp_path)
    set_all(est, 5.0)
    with pytest.raises(
        UsageError, match=r"revert: there is no checkpoint model\.ckpt-9 .*there are model\.ckpt-edit1-2"
    ):
        est.revert("model.ckpt-9")
    est.revert()
    est.revert()
    with pytest.raises(UsageError, match=r"revert: no parent of model\.ckpt-0 is recorded"):
        est.revert()
    est.revert("model.ckpt-edit1-2")
    set_all(tiny.trained(tmp_path / "other", steps=2), 6.0)
    for ending in (".index", ".data-00000-of-00001"):
        (tmp_path / f"model.ckpt-2{ending}").write_bytes((tmp_path / f"other/model.ckpt-edit1-2{ending}").read_bytes())
    with pytest.raises(UsageError, match=r"model\.ckpt-2 has been written anew by another program"):
        est.revert()
