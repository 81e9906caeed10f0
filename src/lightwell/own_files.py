"""Files of ours in folders of the user: the one place that writes, appends to, locks and removes them.

Rules, for every file system that has links:

- A file is written under a name that nobody can foretell, opened as a new one, and renamed to its place when it is
  whole. A link in its place is replaced; what it points to is left alone.
- What is appended to or locked (`append_line`, `open_lock`) must be a plain file: a link is refused, with an error.
- A folder is removed only if it is one, and no link; links inside go, what they point to stays.
- What a killed process left is known by such a name, and by being a plain file or folder.

The folder itself may be reached through links: users put `runs/` on another disk. Storage elsewhere (`gs://`,
`hdfs://`) has no links, and goes through `tf.io.gfile`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import tensorflow as tf

from lightwell.errors import ModelDirError
from lightwell.log import logger

_ENDING = ".writing"
TOKEN = r"[0-9a-f]{16}"
_TEMPORARY = re.compile(rf"(?P<name>.+)\.{TOKEN}{re.escape(_ENDING)}")
_LOCAL = "file://"
_STALE = 3600.0  # seconds, after which nobody is still at work on a small file
# Windows has no links that anybody could plant, nor these flags.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # for somebody at the other end of a pipe


def local_path(path: str) -> str | None:
    """A path as the operating system takes it; None where it is on storage elsewhere."""
    if path.startswith(_LOCAL):
        return path.removeprefix(_LOCAL)
    return None if "://" in path else path


def token() -> str:
    """The end of a name that nobody can foretell; `TOKEN` matches it."""
    return secrets.token_hex(8)


class NewFile:
    """A file that is there once it is finished. Until then it has another name, in the same folder.

    Args:
        path: where it will be, on a local disk.

    Attributes:
        file: what to write to; nothing waits in it.

    Raises:
        OSError: the folder does not take it; so does `finish`.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._temporary = f"{path}.{token()}{_ENDING}"
        try:
            handle = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o666)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from error
        self.file: IO[bytes] = os.fdopen(handle, "wb", buffering=0)

    def write(self, content: Any) -> None:
        """Writes all of it."""
        left = memoryview(content).cast("B")
        while left.nbytes:
            left = left[self.file.write(left) :]

    def finish(self, *, durable: bool = False) -> None:
        """Lets it take its place; `durable`: after the disk has its content."""
        if durable:
            os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._temporary, self._path)

    def drop(self) -> None:
        """Removes it, if it was not finished."""
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OSError):
            os.remove(self._temporary)


def replace_file(path: str, content: str | bytes, *, durable: bool = False) -> None:
    """Writes a file so that a reader sees the old one or all of the new; `durable`: also after a loss of power.

    A link of this name is replaced, what it points to stays as it is.

    Raises:
        OSError, tf.errors.OpError: it cannot be written; nothing of it is left, and the old one is as it was.
    """
    own, data = local_path(path), content.encode() if isinstance(content, str) else content
    if own is None:
        _replace_elsewhere(path, data)
        return
    file = NewFile(own)
    try:
        file.write(data)
        file.finish(durable=durable)
    except BaseException:
        file.drop()
        raise
    if durable:
        make_durable([os.path.dirname(own)])


def copy_file(source: str, target: str) -> None:
    """Copies a file so that a reader sees the old one, if there is one, or all of the new.

    Raises:
        OSError, tf.errors.OpError: it cannot be read or written.
    """
    own = local_path(target)
    if own is None:
        temporary = f"{target}.{token()}{_ENDING}"
        tf.io.gfile.copy(source, temporary)
        tf.io.gfile.rename(temporary, target, overwrite=True)
        return
    file = NewFile(own)
    try:
        with tf.io.gfile.GFile(source, "rb") as opened:
            while piece := opened.read(2**22):
                file.write(piece)
        file.finish()
    except BaseException:
        file.drop()
        raise


def append_line(path: str, line: str, *, durable: bool = False) -> None:
    """Adds a line to a text file; one that a crash cut short stays apart from it.

    Where the file has further names (hard links, as snapshots of folders are made of), they keep what they have.

    Raises:
        ModelDirError: it is a link, or no plain file.
        OSError, tf.errors.OpError: it cannot be written.
    """
    own = local_path(path)
    if own is None:
        _append_elsewhere(path, line)
        return
    handle = _open_plain(own, os.O_RDWR | os.O_APPEND)
    try:
        told = os.fstat(handle)
        last = os.pread(handle, 1, told.st_size - 1) if told.st_size else b"\n"
        data = ("" if last == b"\n" else "\n").encode() + f"{line}\n".encode()
        if told.st_nlink > 1:
            replace_file(own, os.pread(handle, told.st_size, 0) + data, durable=durable)
            return
        while data:
            data = data[os.write(handle, data) :]
        if durable:
            with contextlib.suppress(OSError):
                os.fsync(handle)
    finally:
        os.close(handle)


def open_lock(path: str) -> int:
    """Opens a file to lock, made where it is not there; gives its descriptor.

    Raises:
        ModelDirError: it is a link, or no plain file.
        OSError: it cannot be opened.
    """
    return _open_plain(path, os.O_RDWR)


def write_in_lock(handle: int, content: str) -> None:
    """Leaves a note in a locked file, in place of the one before; not where the file has further names."""
    if os.fstat(handle).st_nlink == 1:
        os.ftruncate(handle, 0)
        os.pwrite(handle, content.encode(), 0)


def check_plain(path: str) -> None:
    """Refuses a link, or anything but a file, in the place of a file that is appended to or locked.

    Raises:
        ModelDirError: it is one.
    """
    own = local_path(path)
    if own is not None and os.path.lexists(own) and not _is(own, stat.S_ISREG):
        raise _no_plain_file(own)


def check_writable(directory: str) -> None:
    """Writes a file into a folder, and removes it.

    Raises:
        OSError, tf.errors.OpError: that is not possible.
    """
    own = local_path(directory)
    if own is None:
        probe = os.path.join(directory, f".lightwell-{token()}")
        with tf.io.gfile.GFile(probe, "w") as file:
            file.write("")
        tf.io.gfile.remove(probe)
        return
    NewFile(os.path.join(own, ".lightwell")).drop()


def make_durable(paths: Iterable[str]) -> None:
    """Has the operating system bring files and directories to the disk; storage elsewhere does so by itself."""
    for path in paths:
        own = local_path(path)
        if own is not None:
            file = os.open(own or ".", os.O_RDONLY)
            try:
                os.fsync(file)
            except OSError:  # a file system that cannot, or not for directories
                pass
            finally:
                os.close(file)


def remove_file(path: str) -> None:
    """Removes a file, or a link in its place and nothing of what it points to; one that is gone is fine.

    Raises:
        OSError, tf.errors.OpError: it cannot be removed.
    """
    own = local_path(path)
    if own is not None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(own)
        return
    with contextlib.suppress(tf.errors.NotFoundError):
        tf.io.gfile.remove(path)


def remove_tree(path: str) -> None:
    """Removes a folder with all that is in it; of links inside, the links alone. One that is gone is fine.

    Raises:
        OSError, tf.errors.OpError: it is a link, no folder, or cannot be removed.
    """
    own = local_path(path)
    if own is not None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(own)  # refuses a link, and goes from folder to folder by descriptors
        return
    with contextlib.suppress(tf.errors.NotFoundError):
        tf.io.gfile.rmtree(path)


def new_folder(directory: str, beginning: str) -> str:
    """Makes a folder whose name begins so and ends with a token; gives its path.

    Raises:
        OSError, tf.errors.OpError: it cannot be made.
    """
    own, name = local_path(directory), f"{beginning}{token()}"
    if own is not None:
        os.mkdir(os.path.join(own, name))
        return os.path.join(own, name)
    tf.io.gfile.makedirs(os.path.join(directory, name))
    return os.path.join(directory, name)


def is_folder(path: str) -> bool:
    """Whether it is a folder, and no link to one."""
    own = local_path(path)
    if own is not None:
        return _is(own, stat.S_ISDIR)
    return bool(tf.io.gfile.isdir(path))


def is_plain_file(path: str) -> bool:
    """Whether it is a file, and no link to one."""
    own = local_path(path)
    return bool(tf.io.gfile.exists(path)) if own is None else _is(own, stat.S_ISREG)


def is_link(path: str) -> bool:
    """Whether it is a link, wherever that leads."""
    own = local_path(path)
    return own is not None and os.path.islink(own)


def drop_link(path: str) -> None:
    """Removes a link that stands where TensorFlow is about to write, which would go through it."""
    own = local_path(path)
    if own is not None and os.path.islink(own):
        logger.warning("%s is a link (to %s) in the place of a file of ours; it is removed.", own, _target(own))
        os.remove(own)


def without_token(name: str) -> str:
    """The name that a file of `NewFile` was to get; empty for other files."""
    found = _TEMPORARY.fullmatch(name)
    return found["name"] if found else ""


def remove_unfinished(directory: str, age: float = _STALE, of: Callable[[str], bool] = lambda name: True) -> None:
    """Removes files that killed processes left unfinished, as far as that can be done.

    Args:
        directory: the folder.
        age: only those that nobody has written to for so many seconds.
        of: only those for which this is true of the name that they were to get.
    """
    own = local_path(directory)
    if own is None:
        return
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(own or ".")):
            name = without_token(entry.name)
            if name and of(name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime >= age:
                        os.remove(entry.path)


def folders_like(directory: str, names: re.Pattern[str]) -> Iterator[str]:
    """The paths of the folders in a directory whose whole name matches; links are none."""
    for listed in tf.io.gfile.listdir(directory):
        name = listed.rstrip("/")
        path = os.path.join(directory, name)
        if names.fullmatch(name) and is_folder(path):
            yield path


def _open_plain(path: str, flags: int) -> int:
    try:
        handle = os.open(path, flags | os.O_CREAT | _NO_LINK | _NO_WAITING, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO):
            raise _no_plain_file(path) from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_plain_file(path)
    return handle


def _no_plain_file(path: str) -> ModelDirError:
    found = f"a link to {_target(path)}" if os.path.islink(path) else "no plain file"
    return ModelDirError(
        errno.ELOOP,
        f"{path} is {found}; expected a plain file that Lightwell made, or none. Nothing was written: what lies "
        "elsewhere is not changed from here. Remove it, or put the file itself in its place.",
    )


def _target(path: str) -> str:
    try:
        return repr(os.readlink(path))
    except OSError:
        return "nothing"


def _is(path: str, kind: Any) -> bool:
    try:
        return bool(kind(os.lstat(path).st_mode))
    except OSError:
        return False


def _replace_elsewhere(path: str, data: bytes) -> None:
    temporary = f"{path}.{token()}{_ENDING}"
    try:
        with tf.io.gfile.GFile(temporary, "wb") as file:
            file.write(data)
        tf.io.gfile.rename(temporary, path, overwrite=True)
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(temporary)
        raise


def _append_elsewhere(path: str, line: str) -> None:
    before = ""
    if tf.io.gfile.exists(path):
        with tf.io.gfile.GFile(path, "rb") as file:
            size = file.size()
            file.seek(max(0, size - 1))
            before = "\n" if size and file.read(1) != b"\n" else ""
    with tf.io.gfile.GFile(path, "a") as file:
        file.write(f"{before}{line}\n")
