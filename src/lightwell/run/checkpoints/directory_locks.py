"""Locks on a `model_dir`: several trainings may run in it at once, an edit of its weights only alone.

A lock of the operating system on one small file, which is released when its process is killed. It works between
threads, processes and, if the file system supports it, machines. Without such locks (cloud storage, Windows) it has no
effect.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

from lightwell.base.log import logger
from lightwell.base.safe_files import local_path, open_lock, write_in_lock
from lightwell.errors import ModelDirError, ModelInUse

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FILE_NAME = "training.lock"
_OF_CHIEF = "chief.lock"
_PATIENCE = 60.0
_PAUSE = 0.05


@contextlib.contextmanager
def lock_for_training(directory: str) -> Iterator[None]:
    """Takes the shared lock of a training for the block; waits while an edit has the exclusive one.

    Raises:
        ModelInUse: an edit takes longer than a minute.
    """
    with _opened(directory) as file:
        if file is not None:
            _wait_for_lock(file, directory)
            _write_owner(file)
        yield


@contextlib.contextmanager
def lock_exclusively(directory: str, doing: str) -> Iterator[None]:
    """Takes the exclusive lock for the block: nobody trains in `directory`, or edits it.

    Args:
        directory: the `model_dir`.
        doing: the operation, for the error: "edit".

    Raises:
        ModelInUse: another process has a lock.
    """
    with _opened(directory) as file:
        if file is not None and not _locked(file, alone=True):
            raise ModelInUse(
                f"{doing}: {_owner(file)} is training in {directory}, or changes its weights, and would go on from "
                "weights of its own: what is written now would be lost. Wait until it is done. To change weights while "
                'a training runs, use a watch: lw.Watch("loss", do=lambda step: step.edit("weights/…", value)).'
            )
        yield


@contextlib.contextmanager
def lock_as_chief(directory: str, is_chief: bool) -> Iterator[None]:
    """If this process is a chief, takes the lock of the only chief in `directory` for the block.

    Raises:
        ModelInUse: there is another chief.
    """
    if not is_chief:
        yield
        return
    with _opened(directory, _OF_CHIEF) as file:
        if file is not None and not _locked(file, alone=True):
            raise ModelInUse(
                f"train: this process is the chief of a cluster, and so is {_owner(file)}, in the same model_dir "
                f"{directory}. Two chiefs would overwrite each other's checkpoints: give each cluster a model_dir of "
                "its own, or end the other one first."
            )
        if file is not None:
            _write_owner(file)
        yield


@contextlib.contextmanager
def _opened(directory: str, name: str = FILE_NAME) -> Iterator[int | None]:
    own = local_path(directory)
    if fcntl is None or own is None:
        yield None
        return
    try:
        file = open_lock(os.path.join(own, name))
    except ModelDirError:  # a link in its place
        raise
    except OSError:  # a full disk, missing rights: the next write raises
        yield None
        return
    try:
        yield file
    finally:
        os.close(file)  # and with it the lock


def _locked(file: int, *, alone: bool) -> bool:
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _wait_for_lock(file: int, directory: str) -> None:
    started = time.monotonic()
    while not _locked(file, alone=False):
        if time.monotonic() - started > _PATIENCE:
            raise ModelInUse(
                f"train: the weights in {directory} have been under change by another program for {_PATIENCE:.0f} "
                "seconds. Wait until that is done, then train."
            )
        if time.monotonic() - started < 2 * _PAUSE:
            logger.info("Waiting for an edit of the weights in %s to be written.", directory)
        time.sleep(_PAUSE)


def _write_owner(file: int) -> None:
    owner = {"process": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with contextlib.suppress(OSError):
        write_in_lock(file, json.dumps(owner))


def _owner(file: int) -> str:
    """The training that took the lock last, as text."""
    try:
        owner: Any = json.loads(os.pread(file, 1000, 0))
        if (owner["process"], owner["host"]) == (os.getpid(), socket.gethostname()):
            return f"this process (since {owner['since']})"
        return f"process {owner['process']} on {owner['host']} (since {owner['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
