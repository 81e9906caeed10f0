"""Folders of exported models, numbered by time.

A model is written to a folder whose name is no number, so that no server loads it, and renamed when it is complete.
The next export into the same directory removes what a killed process left.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import SAVED_MODEL_FILES
from lightwell.base.log import logger
from lightwell.base.safe_files import TOKEN, make_unique_folder, matching_folders, remove_tree
from lightwell.errors import ModelDirError, UsageError, WrongKind, disk_error, reason_of

_DAY = 24 * 3600
_NOT_ALLOWED = (
    tf.errors.PermissionDeniedError,
    tf.errors.ResourceExhaustedError,
    tf.errors.FailedPreconditionError,
)
# Our names have the host and the process that writes; older versions have a number in place of the token, and
# `tf.estimator` has the time alone.
_UNFINISHED = re.compile(rf"temp-(?P<time>\d+)(-(?P<host>.+)-(?P<process>\d+)-((?P<token>{TOKEN})|\d+))?")
_PARTS = {*SAVED_MODEL_FILES, "variables", "assets", "assets.extra", "fingerprint.pb", "debug"}
_MAX_TRIES = 100
_written_now: set[str] = set()
_lock = threading.Lock()


class MissingAsset(UsageError, tf.errors.NotFoundError):
    """A file to export with the model does not exist."""

    def __init__(self, text: str) -> None:
        tf.errors.NotFoundError.__init__(self, None, None, text)

    def __str__(self) -> str:
        return str(self.message)


class ExportDirError(ModelDirError, tf.errors.OpError):
    """The directory for exports cannot be written. It is also the class of error that TensorFlow raises for that."""

    def __init__(self, cause: Any, text: str) -> None:
        ModelDirError.__init__(self, disk_error(cause, text).errno, text)
        tf.errors.OpError.__init__(self, None, None, text, getattr(cause, "error_code", tf.errors.UNKNOWN))


class NewFolder:
    """A folder that is being written.

    Attributes:
        path: the folder to write to.
        final: its path once it is complete.
    """

    def __init__(self, base: str, path: str, doing: str) -> None:
        self._base = base
        self._doing = doing
        self.path = path
        self.final = ""

    @contextlib.contextmanager
    def writing(self, *also: type[Exception]) -> Iterator[None]:
        """Converts errors of code that writes to the folder.

        Args:
            *also: further exception classes to convert.

        Raises:
            ExportDirError: the directory cannot be written.
        """
        try:
            yield
        except (*_NOT_ALLOWED, *also) as error:
            raise ExportDirError(
                error,
                f"{self._doing}: {self._base!r} cannot be written: {reason_of(error)}. Nothing has been exported. "
                "Choose another export_dir_base, or mend its rights or space.",
            ) from error

    def publish(self) -> None:
        """Renames it to a number: the time, or one more than the newest export."""
        for _ in range(_MAX_TRIES):
            self.final = os.path.join(self._base, str(_next_number(self._base)))
            try:
                tf.io.gfile.rename(self.path, self.final)
            except (tf.errors.AlreadyExistsError, tf.errors.FailedPreconditionError):
                continue  # another process took that number meanwhile
            return
        raise UsageError(f"{self._base}: no free number for an export was found in {_MAX_TRIES} tries.")


@contextlib.contextmanager
def new_folder(base: str, doing: str) -> Iterator[NewFolder]:
    """A new folder in `base`, which is created if necessary; an error in the block removes the folder.

    Raises:
        ExportDirError: `base` cannot be written.
    """
    folder = NewFolder(base, "", doing)
    try:
        with folder.writing(tf.errors.NotFoundError, OSError):
            tf.io.gfile.makedirs(base)
            _remove_unfinished(base)
            with _lock:
                folder.path = make_unique_folder(base, f"temp-{int(time.time())}-{socket.gethostname()}-{os.getpid()}-")
                _written_now.add(folder.path)
        yield folder
    except BaseException:
        if folder.path:
            _remove(folder.path)
        raise
    finally:
        with _lock:
            _written_now.discard(folder.path)


def holds_only_an_export(path: str) -> bool:
    """Whether a folder has only parts of a SavedModel; one whose name is not unique to us is then ours."""
    try:
        return {name.rstrip("/") for name in tf.io.gfile.listdir(path)} <= _PARTS
    except tf.errors.OpError:  # deleted by another process
        return False


def check_assets(assets: Mapping[str, Any] | None, doing: str) -> dict[str, str]:
    """The files to export with the model, by their path in `assets.extra`; each exists.

    Raises:
        UsageError: not a dict, or a file is missing.
    """
    if assets is not None and not isinstance(assets, Mapping):
        raise WrongKind(
            f"{doing}: assets_extra must be a dict of path in the export to file, got {type(assets).__name__}."
        )
    files = {os.fspath(name): os.fspath(source) for name, source in (assets or {}).items()}
    for name, source in files.items():
        if not tf.io.gfile.exists(source):
            raise MissingAsset(f"{doing}: assets_extra[{name!r}]: there is no file {source!r}.")
    return files


def copy_assets(files: Mapping[str, str], folder: str) -> None:
    """Copies files into a folder's `assets.extra`, each to its path there."""
    for name, source in files.items():
        target = os.path.join(folder, "assets.extra", name)
        tf.io.gfile.makedirs(os.path.dirname(target))
        tf.io.gfile.copy(source, target, overwrite=True)


def _next_number(base: str) -> int:
    known = [int(name.rstrip("/")) for name in tf.io.gfile.listdir(base) if name.rstrip("/").isdigit()]
    return max([int(time.time()), *(number + 1 for number in known)])


def _remove_unfinished(base: str) -> None:
    """Removes folders of killed exports; one that may still be running stays."""
    for path in matching_folders(base, _UNFINISHED):
        match = _UNFINISHED.fullmatch(os.path.basename(path))
        with _lock:
            if match is None or path in _written_now:
                continue
        if not match["token"] and not holds_only_an_export(path):
            continue
        is_old = time.time() - int(match["time"]) > _DAY
        if is_old or (match["host"] == socket.gethostname() and not _is_alive(int(match["process"]))):
            logger.info("Removing %s, which an export left unfinished.", path)
            _remove(path)


def _is_alive(process: int) -> bool:
    if process == os.getpid():  # our own folders are in _written_now, so an earlier process had this number
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists, and belongs to another user
        return True
    return True


def _remove(path: str) -> None:
    with contextlib.suppress(tf.errors.OpError, OSError):  # another process may be removing it too
        remove_tree(path)
