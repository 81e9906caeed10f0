"""Every file that Lightwell writes, appends to, locks or removes in the folders of users.

Rules, for every file system that has links:

- A file is created under an unpredictable name and renamed to its place when it is complete. A link in its place is
  replaced; the target of the link is left alone.
- A file to append to or to lock (`append_line`, `open_lock`) must be a plain file: a link is an error.
- A folder is removed only if it is no link; links inside are removed, their targets stay.
- Leftovers of a killed process are recognised by such a name, and must be plain files or folders.

The folder itself may be reached through links: users put `runs/` on another disk. Remote storage (`gs://`, `hdfs://`)
has no links and is accessed through `tf.io.gfile`.
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

from lightwell.base.log import logger
from lightwell.errors import ModelDirError

_ENDING = ".writing"
TOKEN = r"[0-9a-f]{16}"
_TEMPORARY = re.compile(rf"(?P<name>.+)\.{TOKEN}{re.escape(_ENDING)}")
_LOCAL = "file://"
_STALE_SECONDS = 3600.0  # after this time nobody is still writing a small file
# Windows lacks these flags, and links that another user could place.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its other end


def local_path(path: str) -> str | None:
    """A path as the operating system takes it; None for remote storage."""
    if path.startswith(_LOCAL):
        return path.removeprefix(_LOCAL)
    return None if "://" in path else path


def token() -> str:
    """An unpredictable end of a name; `TOKEN` matches it."""
    return secrets.token_hex(8)


class NewFile:
    """A file that appears under its name when it is finished. Until then it has a temporary name in the same folder.

    Args:
        path: its final path, on a local disk.

    Attributes:
        file: the unbuffered file to write to.

    Raises:
        OSError: the file cannot be created; `finish` raises it too.
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
        rest = memoryview(content).cast("B")
        while rest.nbytes:
            rest = rest[self.file.write(rest) :]

    def finish(self, *, durable: bool = False) -> None:
        """Renames it to its final path; `durable`: after its content is on disk."""
        if durable:
            os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self._temporary, self._path)

    def discard(self) -> None:
        """Removes it, if it was not finished."""
        with contextlib.suppress(OSError):
            self.file.close()
        with contextlib.suppress(OSError):
            os.remove(self._temporary)


def replace_file(path: str, content: str | bytes, *, durable: bool = False) -> None:
    """Writes a file so that a reader sees the old one or all of the new; `durable`: also after a loss of power.

    A link of this name is replaced, its target stays.

    Raises:
        OSError, tf.errors.OpError: it cannot be written; the old file is unchanged, and no part of the new one is left.
    """
    own, data = local_path(path), content.encode() if isinstance(content, str) else content
    if own is None:
        _replace_remote(path, data)
        return
    file = NewFile(own)
    try:
        file.write(data)
        file.finish(durable=durable)
    except BaseException:
        file.discard()
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
        file.discard()
        raise


def append_line(path: str, line: str, *, durable: bool = False) -> None:
    """Adds a line to a text file, after a line break if a crash cut the last line short.

    Other hard links to the file, as in snapshots of folders, keep the old content.

    Raises:
        ModelDirError: it is a link, or no plain file.
        OSError, tf.errors.OpError: it cannot be written.
    """
    own = local_path(path)
    if own is None:
        _append_remote(path, line)
        return
    handle = _open_plain(own, os.O_RDWR | os.O_APPEND)
    try:
        status = os.fstat(handle)
        last = os.pread(handle, 1, status.st_size - 1) if status.st_size else b"\n"
        data = ("" if last == b"\n" else "\n").encode() + f"{line}\n".encode()
        if status.st_nlink > 1:
            replace_file(own, os.pread(handle, status.st_size, 0) + data, durable=durable)
            return
        while data:
            data = data[os.write(handle, data) :]
        if durable:
            with contextlib.suppress(OSError):
                os.fsync(handle)
    finally:
        os.close(handle)


def open_lock(path: str) -> int:
    """Opens a file to lock, creates it if it is missing, and returns its descriptor.

    Raises:
        ModelDirError: it is a link, or no plain file.
        OSError: it cannot be opened.
    """
    return _open_plain(path, os.O_RDWR)


def write_in_lock(handle: int, content: str) -> None:
    """Replaces the note in a locked file, unless the file has other hard links."""
    if os.fstat(handle).st_nlink == 1:
        os.ftruncate(handle, 0)
        os.pwrite(handle, content.encode(), 0)


def check_plain(path: str) -> None:
    """Checks that a path to append to or to lock is free or a plain file.

    Raises:
        ModelDirError: it is a link, or no plain file.
    """
    own = local_path(path)
    if own is not None and os.path.lexists(own) and not _is(own, stat.S_ISREG):
        raise _no_plain_file(own)


def check_writable(directory: str) -> None:
    """Checks a folder by writing a file into it and removing it.

    Raises:
        OSError, tf.errors.OpError: the file cannot be written.
    """
    own = local_path(directory)
    if own is None:
        probe = os.path.join(directory, f".lightwell-{token()}")
        with tf.io.gfile.GFile(probe, "w") as file:
            file.write("")
        tf.io.gfile.remove(probe)
        return
    NewFile(os.path.join(own, ".lightwell")).discard()


def make_durable(paths: Iterable[str]) -> None:
    """Syncs files and directories to disk; remote storage does so by itself."""
    for path in paths:
        own = local_path(path)
        if own is not None:
            file = os.open(own or ".", os.O_RDONLY)
            try:
                os.fsync(file)
            except OSError:  # the file system has no sync, or none for directories
                pass
            finally:
                os.close(file)


def remove_file(path: str) -> None:
    """Removes a file, or a link without its target; a missing one is fine.

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
    """Removes a folder and its content, links without their targets; a missing one is fine.

    Raises:
        OSError, tf.errors.OpError: it is a link, no folder, or cannot be removed.
    """
    own = local_path(path)
    if own is not None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(own)  # raises for a link, and walks by descriptors
        return
    with contextlib.suppress(tf.errors.NotFoundError):
        tf.io.gfile.rmtree(path)


def make_unique_folder(directory: str, prefix: str) -> str:
    """Creates a folder whose name is `prefix` and a token; returns its path.

    Raises:
        OSError, tf.errors.OpError: it cannot be created.
    """
    own, name = local_path(directory), f"{prefix}{token()}"
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
    """Whether it is a link, whatever its target."""
    own = local_path(path)
    return own is not None and os.path.islink(own)


def remove_link(path: str) -> None:
    """Removes a link where TensorFlow is about to write, because TensorFlow would follow it."""
    own = local_path(path)
    if own is not None and os.path.islink(own):
        logger.warning("%s is a link (to %s) in the place of a file of ours; it is removed.", own, _target(own))
        os.remove(own)


def final_name(name: str) -> str:
    """The final name of a temporary file of `NewFile`; empty for other files."""
    match = _TEMPORARY.fullmatch(name)
    return match["name"] if match else ""


def remove_unfinished(
    directory: str, age: float = _STALE_SECONDS, of: Callable[[str], bool] = lambda name: True
) -> None:
    """Removes unfinished files of killed processes; errors are ignored.

    Args:
        directory: the folder.
        age: only files that nobody has written to for this many seconds.
        of: only files whose final name this function accepts.
    """
    own = local_path(directory)
    if own is None:
        return
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(own or ".")):
            name = final_name(entry.name)
            if name and of(name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime >= age:
                        os.remove(entry.path)


def matching_folders(directory: str, names: re.Pattern[str]) -> Iterator[str]:
    """The paths of the folders in a directory whose whole name matches, without links."""
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
    kind = f"a link to {_target(path)}" if os.path.islink(path) else "no plain file"
    return ModelDirError(
        errno.ELOOP,
        f"{path} is {kind}; expected a plain file that Lightwell made, or none. Nothing was written: what lies "
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


def _replace_remote(path: str, data: bytes) -> None:
    temporary = f"{path}.{token()}{_ENDING}"
    try:
        with tf.io.gfile.GFile(temporary, "wb") as file:
            file.write(data)
        tf.io.gfile.rename(temporary, path, overwrite=True)
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(temporary)
        raise


def _append_remote(path: str, line: str) -> None:
    before = ""
    if tf.io.gfile.exists(path):
        with tf.io.gfile.GFile(path, "rb") as file:
            size = file.size()
            file.seek(max(0, size - 1))
            before = "\n" if size and file.read(1) != b"\n" else ""
    with tf.io.gfile.GFile(path, "a") as file:
        file.write(f"{before}{line}\n")
