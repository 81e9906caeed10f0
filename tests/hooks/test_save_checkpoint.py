"""Checkpoints on their cadence, listeners around each, and what is said when one cannot be written."""

from __future__ import annotations

import errno
import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf
from tests.conftest import LogLines
from tests.hooks.steps import Context, session_marks

from lightwell.errors import ModelDirError
from lightwell.hooks import save_checkpoint
from lightwell.hooks.base import NEVER
from lightwell.hooks.save_checkpoint import SaveCheckpoint

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


class Run:
    """A session whose only business is its counter, and a hook to tell of it."""

    def __init__(self, directory: Path, session: Any, counter: Any, scaffold: Any) -> None:
        self.directory, self.session, self.counter, self.scaffold = directory, session, counter, scaffold

    def hook(self, **settings: Any) -> SaveCheckpoint:
        return SaveCheckpoint(str(self.directory), self.scaffold, **settings)

    def go_to(self, step: int) -> Context:
        self.counter.load(step, self.session)
        return Context(step, session=self.session)

    def saved(self) -> list[int]:
        return sorted(int(file.stem.rpartition("-")[2]) for file in self.directory.glob("*.index"))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with tf.Graph().as_default(), v1.Session() as session:
        counter = v1.train.create_global_step()
        v1.get_variable("w", [2])
        scaffold = v1.train.Scaffold(saver=v1.train.Saver(max_to_keep=3, save_relative_paths=True))
        scaffold.finalize()
        session.run(scaffold.init_op)
        yield Run(tmp_path, session, counter, scaffold)


def test_it_is_a_checkpoint_saver_hook_to_anyone_who_asks(run: Run) -> None:
    assert isinstance(run.hook(save_steps=2), v1.train.CheckpointSaverHook)


def test_at_the_start_on_the_cadence_and_at_the_end(run: Run, log: LogLines) -> None:
    hook = run.hook(save_steps=2)
    assert hook.saved_step == -1
    hook.after_create_session(run.session, None)
    for step in (1, 2, 3):
        hook.after_run(run.go_to(step), None)
    assert run.saved() == [0, 2]
    hook.end(run.session)
    assert run.saved() == [0, 2, 3]
    assert hook.saved_step == 3
    assert log.having("Saving checkpoints for") == [
        f"INFO Saving checkpoints for {step} into {run.directory}/model.ckpt." for step in (0, 2, 3)
    ]
    assert session_marks(run.directory) == [(step, v1.SessionLog.CHECKPOINT) for step in (0, 2, 3)]


def test_the_last_step_is_not_saved_twice(run: Run, log: LogLines) -> None:
    hook = run.hook(save_steps=2)
    hook.after_create_session(run.session, None)
    hook.after_run(run.go_to(2), None)
    hook.end(run.session)
    assert len(log.having("Saving checkpoints for")) == 2


def test_it_asks_for_the_steps_of_its_cadence(run: Run) -> None:
    hook = run.hook(save_steps=5)
    run.go_to(10)
    hook.after_create_session(run.session, None)
    assert [hook.next_look(step) for step in (10, 13, 14, 15, 20)] == [15, 15, 15, 16, 21]
    assert hook.next_look_seconds() == math.inf


def test_on_a_cadence_of_seconds_it_asks_for_a_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(save_checkpoint, "time", SimpleNamespace(time=lambda: clock.now))
    hook = run.hook(save_secs=60)
    hook.after_create_session(run.session, None)
    assert hook.next_look(0) == NEVER
    clock.now += 20
    assert hook.next_look_seconds() == 40
    hook.after_run(run.go_to(1), None)
    assert run.saved() == [0]
    clock.now += 41
    assert hook.next_look_seconds() < 0
    hook.after_run(run.go_to(2), None)
    assert run.saved() == [0, 2]
    assert hook.next_look_seconds() == 60


def test_listeners_stand_around_each_save(run: Run) -> None:
    calls: list[str] = []
    hook = run.hook(save_steps=1, listeners=[Listener("a", calls), Listener("b", calls)])
    hook.begin()
    hook.after_create_session(run.session, None)
    hook.end(run.session)
    assert calls == [
        *["a begin", "b begin"],
        *["a before 0", "b before 0", "a after 0", "b after 0"],
        *["a end 0", "b end 0"],
    ]


def test_a_listener_can_stop_training_but_not_before_it_began(run: Run, log: LogLines) -> None:
    hook = run.hook(save_steps=1, listeners=[Listener("a", [], stop_at=1)])
    hook.after_create_session(run.session, None)
    context = run.go_to(1)
    hook.after_run(context, None)
    assert context.stopped
    assert log.having("A CheckpointSaverListener requested that training be stopped. listener: <")
    context = run.go_to(2)
    hook.after_run(context, None)
    assert not context.stopped


def test_old_checkpoints_go_with_all_their_files(run: Run) -> None:
    hook = run.hook(save_steps=1)
    hook.after_create_session(run.session, None)
    for step in range(1, 6):
        hook.after_run(run.go_to(step), None)
    names = {file.name for file in run.directory.glob("model.ckpt*")}
    kept = {f"model.ckpt-{step}.{kind}" for step in (3, 4, 5) for kind in ("index", "meta", "data-00000-of-00001")}
    assert names == kept


def test_the_graph_is_written_beside_them_if_wanted(run: Run, tmp_path: Path) -> None:
    hook = run.hook(save_steps=1)
    hook.after_create_session(run.session, None)
    assert "global_step" in (tmp_path / "graph.pbtxt").read_text()
    meta = v1.MetaGraphDef.FromString((tmp_path / "model.ckpt-0.meta").read_bytes())
    assert any(node.name == "w" for node in meta.graph_def.node)
    assert meta.saver_def.restore_op_name == run.scaffold.saver.saver_def.restore_op_name


def test_and_not_if_not(run: Run, tmp_path: Path) -> None:
    hook = run.hook(save_steps=1, save_graph_def=False)
    hook.after_create_session(run.session, None)
    assert not (tmp_path / "graph.pbtxt").exists()
    assert not list(tmp_path.glob("*.meta"))


def refusing(run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def save(*args: Any, **kwargs: Any) -> None:
        raise error

    monkeypatch.setattr(run.scaffold.saver, "save", save)


def test_a_first_checkpoint_that_fails_says_that_nothing_is_lost(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(run, monkeypatch, OSError(errno.EACCES, "Permission denied"))
    text = "No checkpoint can be written to model_dir .*Permission denied.*Nothing has been trained yet; choose another"
    with pytest.raises(ModelDirError, match=text) as caught:
        run.hook(save_steps=2).after_create_session(run.session, None)
    assert caught.value.errno == errno.EACCES


def test_a_directory_that_is_taken_away_is_told_by_tensorflows_own_words(run: Run) -> None:
    hook = run.hook(save_steps=1)
    hook.after_create_session(run.session, None)
    for file in run.directory.iterdir():
        file.unlink()
    run.directory.rmdir()
    run.directory.write_text("a file stands here now")
    try:
        with pytest.raises(ModelDirError) as caught:
            hook.after_run(run.go_to(1), None)
    finally:
        run.directory.unlink()
        run.directory.mkdir()
    assert "Graph execution error" not in str(caught.value)
    assert "irectory" in str(caught.value), str(caught.value)
