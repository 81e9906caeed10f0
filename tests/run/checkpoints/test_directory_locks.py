"""Trainings may share a directory, an edit is alone in it; whoever is killed lets go."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from lightwell.errors import ModelInUse
from lightwell.run.checkpoints import directory_locks
from lightwell.run.checkpoints.directory_locks import lock_as_chief, lock_exclusively, lock_for_training


def refused(directory: Path, text: str) -> None:
    with pytest.raises(ModelInUse, match=text), lock_exclusively(str(directory), "edit"):
        pass


def test_trainings_run_beside_one_another_and_hold_an_edit_off(tmp_path: Path) -> None:
    with lock_for_training(str(tmp_path)), lock_for_training(str(tmp_path)):
        refused(tmp_path, r"edit: this process \(since .*\) is training in .*step\.edit")
    with lock_exclusively(str(tmp_path), "edit"):
        refused(tmp_path, "or changes its weights")


def test_a_training_waits_for_an_edit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_locks, "_PATIENCE", 0.1)
    with (
        lock_exclusively(str(tmp_path), "edit"),
        pytest.raises(ModelInUse, match=r"train: the weights in .* have been under change"),
        lock_for_training(str(tmp_path)),
    ):
        pass


def test_another_process_is_named_and_its_death_noticed(tmp_path: Path) -> None:
    told, telling = os.pipe()
    child = os.fork()  # it uses nothing of TensorFlow
    if not child:
        try:
            with lock_for_training(str(tmp_path)):
                os.write(telling, b"t")
                time.sleep(60)
        finally:
            os._exit(1)
    try:
        assert os.read(told, 1) == b"t"
        refused(tmp_path, rf"edit: process {child} on .* is training")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)
        os.close(telling)
    with lock_exclusively(str(tmp_path), "edit"):
        pass


def test_a_place_without_locks_holds_nothing_off() -> None:
    with lock_for_training("gs://bucket/model"), lock_exclusively("gs://bucket/model", "edit"):
        pass


def test_two_chiefs_in_one_directory(tmp_path: Path) -> None:
    text = (
        r"this process is the chief of a cluster, and so is this process \(since .*\), in the same model_dir .*its own"
    )
    with lock_as_chief(str(tmp_path), True), lock_for_training(str(tmp_path)):
        with lock_as_chief(str(tmp_path), False):
            pass
        with pytest.raises(ModelInUse, match=text), lock_as_chief(str(tmp_path), True):
            pass
    with lock_as_chief(str(tmp_path), True):
        pass
