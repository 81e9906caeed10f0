"""Whose turn it is in a `model_dir`: trainings may run beside one another there, an edit of its weights only alone.

A lock of the operating system on one small file, which a process that is killed lets go of. It holds between threads,
processes and, as far as the file system does, machines. Where there are no such locks (cloud storage, Windows) it
holds nothing off.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

from lightwell.errors import ModelDirError, ModelInUse
from lightwell.log import logger
from lightwell.own_files import local_path, open_lock, write_in_lock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FILE_NAME = "training.lock"
_OF_CHIEF = "chief.lock"
_PATIENCE = 60.0
_PAUSE = 0.05


@contextlib.contextmanager
def training_in(directory: str) -> Iterator[None]:
    """While the block runs, a training is under way in `directory`; it begins when no edit is being written there.

    Raises:
        ModelInUse: an edit takes longer than a minute.
    """
    with _opened(directory) as file:
        if file is not None:
            _wait_for_turn(file, directory)
            _leave_name(file)
        yield


@contextlib.contextmanager
def alone_in(directory: str, doing: str) -> Iterator[None]:
    """While the block runs, nobody trains in `directory`, or edits it.

    Args:
        directory: the `model_dir`.
        doing: what is about to be done, as it stands in an error: "edit".

    Raises:
        ModelInUse: somebody does.
    """
    with _opened(directory) as file:
        if file is not None and not _locked(file, alone=True):
            raise ModelInUse(
                f"{doing}: {_who(file)} is training in {directory}, or changes its weights, and would go on from "
                "weights of its own: what is written now would be lost. Wait until it is done. To change weights while "
                'a training runs, use a watch: lw.Watch("loss", do=lambda step: step.edit("weights/…", value)).'
            )
        yield


@contextlib.contextmanager
def chief_in(directory: str, is_chief: bool) -> Iterator[None]:
    """While the block runs, this process is the one chief of a cluster that trains in `directory`, if it is one.

    Raises:
        ModelInUse: there is another.
    """
    if not is_chief:
        yield
        return
    with _opened(directory, _OF_CHIEF) as file:
        if file is not None and not _locked(file, alone=True):
            raise ModelInUse(
                f"train: this process is the chief of a cluster, and so is {_who(file)}, in the same model_dir "
                f"{directory}. Two chiefs would overwrite each other's checkpoints: give each cluster a model_dir of "
                "its own, or end the other one first."
            )
        if file is not None:
            _leave_name(file)
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
    except OSError:  # a full disk, missing rights: whoever writes there will tell
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


def _wait_for_turn(file: int, directory: str) -> None:
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


def _leave_name(file: int) -> None:
    told = {"process": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
    with contextlib.suppress(OSError):
        write_in_lock(file, json.dumps(told))


def _who(file: int) -> str:
    """The training that began last, as it told itself."""
    try:
        told: Any = json.loads(os.pread(file, 1000, 0))
        if (told["process"], told["host"]) == (os.getpid(), socket.gethostname()):
            return f"this process (since {told['since']})"
        return f"process {told['process']} on {told['host']} (since {told['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
