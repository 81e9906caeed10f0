"""Folders of exported models: numbered by time, each there whole or not at all.

A model is written into a folder beside its place, whose name is no number, so that no server loads it; when it is
complete, it is renamed. What a killed process left behind is removed by the next export into the same directory.
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

from lightwell.errors import ModelDirError, UsageError, WrongKind, disk_error, reason_of
from lightwell.keys import SAVED_MODEL_FILES
from lightwell.log import logger
from lightwell.own_files import TOKEN, folders_like, remove_tree
from lightwell.own_files import new_folder as own_folder

_DAY = 24 * 3600
_NOT_ALLOWED = (
    tf.errors.PermissionDeniedError,
    tf.errors.ResourceExhaustedError,
    tf.errors.FailedPreconditionError,
)
# Ours, with the machine and the process that writes. Before, a number was in the place of the token; the original has
# the time alone.
_UNFINISHED = re.compile(rf"temp-(?P<time>\d+)(-(?P<host>.+)-(?P<process>\d+)-((?P<token>{TOKEN})|\d+))?")
_PARTS = {*SAVED_MODEL_FILES, "variables", "assets", "assets.extra", "fingerprint.pb", "debug"}
_MOST_TRIES = 100
_written_now: set[str] = set()
_lock = threading.Lock()


class MissingAsset(UsageError, tf.errors.NotFoundError):
    """A file that was to be exported with the model is not there."""

    def __init__(self, text: str) -> None:
        tf.errors.NotFoundError.__init__(self, None, None, text)

    def __str__(self) -> str:
        return str(self.message)


class ExportDirError(ModelDirError, tf.errors.OpError):
    """The directory for exports cannot be written. It can be caught as what TensorFlow raises for that, too."""

    def __init__(self, cause: Any, text: str) -> None:
        ModelDirError.__init__(self, disk_error(cause, text).errno, text)
        tf.errors.OpError.__init__(self, None, None, text, getattr(cause, "error_code", tf.errors.UNKNOWN))


class NewFolder:
    """A folder that is being written.

    Attributes:
        path: where to write.
        final: where it stands once it is complete.
    """

    def __init__(self, base: str, path: str, doing: str) -> None:
        self._base = base
        self._doing = doing
        self.path = path
        self.final = ""

    @contextlib.contextmanager
    def writing(self, *also: type[Exception]) -> Iterator[None]:
        """Around whatever writes into it: says so where the directory does not allow that.

        Args:
            *also: further exceptions that mean the same here.

        Raises:
            ExportDirError: it does not.
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
        """Renames it to a number: the time, or one more than the newest that is there."""
        for _ in range(_MOST_TRIES):
            self.final = os.path.join(self._base, str(_next_number(self._base)))
            try:
                tf.io.gfile.rename(self.path, self.final)
            except (tf.errors.AlreadyExistsError, tf.errors.FailedPreconditionError):
                continue  # another process took that number meanwhile
            return
        raise UsageError(f"{self._base}: no free number for an export was found in {_MOST_TRIES} tries.")


@contextlib.contextmanager
def new_folder(base: str, doing: str) -> Iterator[NewFolder]:
    """A new folder in `base`, which is made if it is not there; an error within leaves nothing behind.

    Raises:
        ExportDirError: `base` cannot be written.
    """
    folder = NewFolder(base, "", doing)
    try:
        with folder.writing(tf.errors.NotFoundError, OSError):
            tf.io.gfile.makedirs(base)
            _remove_unfinished(base)
            with _lock:
                folder.path = own_folder(base, f"temp-{int(time.time())}-{socket.gethostname()}-{os.getpid()}-")
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
    """Whether there is nothing in a folder but parts of a SavedModel: whose name anybody could give, is ours if so."""
    try:
        return {name.rstrip("/") for name in tf.io.gfile.listdir(path)} <= _PARTS
    except tf.errors.OpError:  # gone meanwhile
        return False


def check_assets(assets: Mapping[str, Any] | None, doing: str) -> dict[str, str]:
    """The files to export beside the model, by the path they get in `assets.extra`; each is there.

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
    """Removes what exports that were killed left behind; one that may still be under way stays."""
    for path in folders_like(base, _UNFINISHED):
        found = _UNFINISHED.fullmatch(os.path.basename(path))
        with _lock:
            if found is None or path in _written_now:
                continue
        if not found["token"] and not holds_only_an_export(path):
            continue
        is_old = time.time() - int(found["time"]) > _DAY
        if is_old or (found["host"] == socket.gethostname() and not _is_alive(int(found["process"]))):
            logger.info("Removing %s, which an export left unfinished.", path)
            _remove(path)


def _is_alive(process: int) -> bool:
    if process == os.getpid():  # a process before a restart had our number; what we write ourselves is known
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is there, and somebody else's
        return True
    return True


def _remove(path: str) -> None:
    with contextlib.suppress(tf.errors.OpError, OSError):  # another process may be removing it too
        remove_tree(path)
