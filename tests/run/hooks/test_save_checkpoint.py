"""Checkpoints on their cadence, listeners around each, and what is said when one cannot be written."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from google.protobuf import text_format
from tests import tiny
from tests.conftest import LogLines
from tests.run.hooks.conftest import Clock
from tests.run.hooks.event_files import session_marks

from lightwell.errors import ModelDirError

v1 = tf.compat.v1


class Listener(v1.train.CheckpointSaverListener):
    def __init__(self, name: str, calls: list[str], stop_at: int | None = None) -> None:
        self.name, self.calls, self.stop_at = name, calls, stop_at

    def begin(self) -> None:
        self.calls.append(f"{self.name} begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self.calls.append(f"{self.name} before {global_step_value}")

    def after_save(self, session: Any, global_step_value: int) -> bool:
        self.calls.append(f"{self.name} after {global_step_value}")
        return global_step_value == self.stop_at

    def end(self, session: Any, global_step_value: int) -> None:
        self.calls.append(f"{self.name} end {global_step_value}")


def saved(directory: Path) -> list[int]:
    return sorted(int(file.stem.rpartition("-")[2]) for file in directory.glob("*.index"))


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_at_the_start_on_the_cadence_and_at_the_end_each_once(tmp_path: Path, log: LogLines, fuse_steps: Any) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=2, keep_checkpoint_max=9, fuse_steps=fuse_steps)
    made.train(tiny.data, steps=3)
    made.train(tiny.data, steps=4)
    told = [f"INFO Saving checkpoints for {step} into {tmp_path}/model.ckpt." for step in (0, 2, 3, 3, 5, 7)]
    assert log.having("Saving checkpoints for") == told
    assert saved(tmp_path) == [0, 2, 3, 5, 7]
    marks = [mark for mark in session_marks(tmp_path) if mark[1] == v1.SessionLog.CHECKPOINT]
    assert marks == [(step, v1.SessionLog.CHECKPOINT) for step in (0, 2, 3, 3, 5, 7)]


def test_on_a_cadence_of_seconds(tmp_path: Path, clock: Clock) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_secs=60, save_checkpoints_steps=None, keep_checkpoint_max=9)
    made.train(tiny.data, steps=10, hooks=[clock.each_step(25.0)])
    assert saved(tmp_path) == [0, 4, 8, 10], "the first step that begins when it is time"


def test_listeners_stand_around_each_save(tmp_path: Path) -> None:
    calls: list[str] = []
    listeners = [Listener("a", calls), Listener("b", calls)]
    tiny.estimator(tmp_path).train(tiny.data, steps=1, saving_listeners=listeners)
    around = [[f"{name} {moment} {step}" for moment in ("before", "after") for name in "ab"] for step in (0, 1)]
    assert calls == ["a begin", "b begin", *around[0], *around[1], "a end 1", "b end 1"]


@pytest.mark.parametrize("fuse_steps", [False, "auto"])
def test_a_listener_can_stop_training_but_not_before_it_began(tmp_path: Path, log: LogLines, fuse_steps: Any) -> None:
    made = tiny.estimator(tmp_path, save_checkpoints_steps=4, fuse_steps=fuse_steps)
    made.train(tiny.data, steps=20, saving_listeners=[Listener("a", [], stop_at=0), Listener("b", [], stop_at=8)])
    assert saved(tmp_path) == [0, 4, 8]
    assert log.having("A CheckpointSaverListener requested that training be stopped. listener: <")


def test_old_checkpoints_go_with_all_their_files(tmp_path: Path) -> None:
    tiny.estimator(tmp_path, save_checkpoints_steps=1, keep_checkpoint_max=3).train(tiny.data, steps=5)
    names = {file.name for file in tmp_path.glob("model.ckpt*")}
    kept = {f"model.ckpt-{step}.{kind}" for step in (3, 4, 5) for kind in ("index", "meta", "data-00000-of-00001")}
    assert names == kept


def test_the_graph_is_there_as_text_that_can_be_read_back(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        tf.constant([b'with "quotes"', b"line\nbreak", "Maß".encode(), b"\xff\x00"])
        tf.constant([1.5, float("nan"), float("-inf"), 1e-12, 0.1])
        return tiny.linear(features, labels, mode, {})

    tiny.estimator(tmp_path, model_fn).train(lambda: tiny.data().map(lambda x, y: (x, y)), steps=1)
    meta = v1.MetaGraphDef.FromString((tmp_path / "model.ckpt-0.meta").read_bytes())
    read = text_format.Parse((tmp_path / "graph.pbtxt").read_text(), v1.GraphDef())
    assert meta.graph_def.library.function, "the input's"
    assert read.SerializeToString(deterministic=True) == meta.graph_def.SerializeToString(deterministic=True)


def test_the_graph_is_written_beside_them_if_wanted(tmp_path: Path) -> None:
    tiny.trained(tmp_path / "with", steps=1)
    meta = v1.MetaGraphDef.FromString((tmp_path / "with" / "model.ckpt-0.meta").read_bytes())
    assert {meta.saver_def.restore_op_name, "w"} <= {node.name for node in meta.graph_def.node}
    tiny.trained(tmp_path / "without", steps=1, checkpoint_save_graph_def=False)
    assert not (tmp_path / "without" / "graph.pbtxt").exists()
    assert not list((tmp_path / "without").glob("*.meta"))


def refusing(error: BaseException, at: int) -> Callable[..., Any]:
    """A model whose saver fails at a step."""

    class Fails(v1.train.Saver):
        def save(self, session: Any, path: str, global_step: Any = None, **options: Any) -> Any:
            if global_step == at:
                raise error
            return super().save(session, path, global_step=global_step, **options)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        spec = tiny.linear(features, labels, mode, {})
        return spec._replace(scaffold=v1.train.Scaffold(saver=Fails(save_relative_paths=True)))

    return model_fn


FULL = tf.errors.ResourceExhaustedError(None, None, "/m/model.ckpt-2.data; No space left on device")


def test_a_full_disk_says_what_is_safe_and_what_to_do(tmp_path: Path) -> None:
    text = (
        rf"The checkpoint of step 2 could not be written to {tmp_path}: .*No space left on device\. "
        r"The last complete one is of step 0\. Free space or mend the rights, then start the same training again"
    )
    with pytest.raises(ModelDirError, match=text) as caught:
        tiny.estimator(tmp_path, refusing(FULL, at=2), save_checkpoints_steps=2).train(tiny.data, steps=5)
    assert caught.value.errno in (errno.EIO, errno.ENOSPC)
    assert saved(tmp_path) == [0]


def test_a_first_checkpoint_that_fails_says_that_nothing_is_lost(tmp_path: Path) -> None:
    text = "No checkpoint can be written to model_dir .*Permission denied.*Nothing has been trained yet; choose another"
    denied = OSError(errno.EACCES, "Permission denied")
    with pytest.raises(ModelDirError, match=text) as caught:
        tiny.estimator(tmp_path, refusing(denied, at=0)).train(tiny.data, steps=1)
    assert caught.value.errno == errno.EACCES


def test_a_directory_that_is_taken_away_is_told_by_tensorflows_own_words(tmp_path: Path) -> None:
    model_dir = tmp_path / "model"

    class TakesAway(v1.train.SessionRunHook):
        def before_run(self, run_context: Any) -> None:
            model_dir.rename(tmp_path / "elsewhere")
            model_dir.write_text("a file stands here now")

    with pytest.raises(ModelDirError) as caught:
        tiny.estimator(model_dir, save_checkpoints_steps=1).train(tiny.data, steps=1, hooks=[TakesAway()])
    assert "Graph execution error" not in str(caught.value)
    assert "irectory" in str(caught.value), str(caught.value)
