"""The folder of a capture: locking, checked files, and gaps between shards.

Owns all writing below the folder. A file is written whole or not at all; one that differs from the
manifest is not used.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lightwell.base.log import logger
from lightwell.base.safe_files import NewFile, final_name, is_plain_file, remove_file
from lightwell.errors import CaptureError, UsageError
from lightwell.inside.captures.checksums import checksum_text, is_checksum_of_file, mark_verified, new_checksum
from lightwell.inside.captures.manifest import NAME, SHARD_FILE, Manifest, Shard, manifest_from
from lightwell.inside.captures.sizes import in_words
from lightwell.run.inputs.memory import memory_of

_WRITING = ".writing"
_PIECE = 2**22
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
STATISTICS = "statistics.arrow"


@dataclass(frozen=True)
class Gap:
    """Batches that are missing: from `first` up to `end`, None for the end of the input.

    Attributes:
        first_row: the number of the first example that is missing.
        after: the shard before, which is there.
    """

    first: int
    end: int | None
    first_row: int
    after: Shard | None


class Folder:
    """Where a capture lives.

    Args:
        path: the folder; created where it does not exist.
        is_replaced: a capture that is there counts for nothing, and makes way when the first file is written.

    Raises:
        UsageError: it is on a file system that cannot be mapped into memory.
    """

    def __init__(self, path: Any, is_replaced: bool = False) -> None:
        self.path = os.fspath(path)
        self._is_replaced = is_replaced
        if "://" in self.path:
            raise UsageError(
                f"capture: to={self.path!r} is not on a local disk, and a capture is mapped into memory. Capture to a "
                "local folder, and copy it."
            )

    def file(self, name: str) -> str:
        """The path of a file in it."""
        return os.path.join(self.path, name)

    def read_manifest(self) -> Manifest | None:
        """The manifest; None where there is no capture."""
        if self._is_replaced:
            return None
        try:
            with open(self.file(NAME), "rb") as file:
                content = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise CaptureError(
                error.errno or errno.EIO, f"{self.file(NAME)} cannot be read: {error.strerror or error}."
            ) from error
        return manifest_from(content, self.file(NAME))

    def write_manifest(self, manifest: Manifest) -> None:
        """Replaces the manifest: a reader sees the old one or the new one.

        The disk is waited for where earlier shards could be lost.
        """
        has_more = len(manifest.shards) > 1
        self.write(NAME, lambda sink: sink.write(manifest.to_json().encode()), is_settled=has_more)

    def write(self, name: str, fill: Callable[[Any], object], *, is_settled: bool = False) -> tuple[int, str]:
        """Writes a file as a whole; gives its size and checksum.

        Args:
            name: its name.
            fill: writes into a file.
            is_settled: wait until the disk has it. A file whose checksum is known need not wait: if the machine fails
                before, the damage is detected and it is written again.

        Raises:
            CaptureError: the disk is full, or takes nothing.
        """
        file = self.begin(name)
        try:
            fill(file)
            return file.finish(is_settled)
        except BaseException:
            file.drop()
            raise

    def begin(self, name: str) -> FileBeingWritten:
        """A file that is there once it is finished; see `write`."""
        if self._is_replaced:
            self._empty()
            self._is_replaced = False
        return FileBeingWritten(self, self.file(name))

    def disk_error(self, error: OSError, path: str) -> CaptureError:
        """What to raise for an error of the disk."""
        left, cure = "", "call capture again once it can be, it goes on from there."
        if error.errno in _NO_ROOM:
            cure = "make room and call capture again, it goes on from there; or capture less, with budget=."
            with contextlib.suppress(OSError):
                left = f" {in_words(shutil.disk_usage(self.path).free)} are free."
        return CaptureError(
            error.errno or errno.EIO,
            f"capture: {path} cannot be written: {error.strerror or error}.{left} What was written before it is whole: "
            + cure,
        )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other captures out of the folder; a process that dies lets go.

        Raises:
            CaptureError: the folder cannot be created.
            UsageError: another capture is at work in it, or it holds something else.
        """
        try:
            os.makedirs(self.path, exist_ok=True)
            handle = os.open(self.path, os.O_RDONLY)
        except (FileExistsError, NotADirectoryError) as error:
            raise UsageError(
                f"capture: to={self.path!r} cannot be a folder: there is a file of this name, or of a folder above it. "
                "Name another folder."
            ) from error
        except OSError as error:
            raise self.disk_error(error, self.path) from error
        try:
            _lock(handle, self.path)
            yield
        finally:
            os.close(handle)

    def check_is_ours(self) -> None:
        """Refuses a folder that is not empty and no capture."""
        others = [name for name in os.listdir(self.path) if not _is_unfinished(name)]
        is_left_over = self._is_replaced and set(others) <= set(self._own_files())  # killed while it was removed
        if others and NAME not in others and not is_left_over:
            raise UsageError(
                f"capture: to={self.path!r} holds {len(others)} files and no capture ({sorted(others)[:3]}). Name "
                "a new folder."
            )

    @property
    def room(self) -> int:
        """How many bytes there is room for, with what makes way."""
        free = shutil.disk_usage(self.path).free
        return free + (sum(os.path.getsize(self.file(name)) for name in self._own_files()) if self._is_replaced else 0)

    def _empty(self) -> None:
        """Removes the capture; the manifest first, so that half of one is none."""
        for name in sorted(self._own_files(), key=lambda name: name != NAME):
            try:
                remove_file(self.file(name))
            except OSError as error:
                raise CaptureError(
                    error.errno or errno.EIO,
                    f"capture: {self.file(name)} cannot be removed to make way for the new capture: "
                    f"{error.strerror or error}. Make the folder writable, or name another one.",
                ) from error

    def _own_files(self) -> list[str]:
        return list(filter(_is_own, os.listdir(self.path)))

    def is_sound(self, shard: Shard) -> bool:
        """Whether a shard is there, whole and unchanged."""
        try:
            if os.path.getsize(self.file(shard.file)) != shard.bytes:
                return False
            return is_checksum_of_file(shard.checksum, self.file(shard.file))
        except OSError:
            return False

    def has_sound_statistics(self, manifest: Manifest) -> bool:
        """Whether the file of statistics exists and is unchanged."""
        try:
            return is_checksum_of_file(manifest.statistics_checksum, self.file(STATISTICS))
        except OSError:
            return False

    def remove_unfinished(self) -> None:
        """Removes what a killed capture was writing."""
        for name in os.listdir(self.path):
            if _is_unfinished(name) and is_plain_file(self.file(name)):
                remove_file(self.file(name))

    def sound_part(self, manifest: Manifest) -> tuple[Manifest, list[Gap]]:
        """The manifest with its sound shards alone, and the gaps between and behind them.

        With a gap it counts as not complete until the end of the input is reached again.
        """
        sound = []
        for shard in manifest.shards:
            if self.is_sound(shard):
                sound.append(shard)
            else:
                logger.warning("capture: %s is damaged or gone, and is written again.", self.file(shard.file))
        gaps: list[Gap] = []
        before: Shard | None = None
        for shard in sound:
            if shard.first_batch > (before.end_batch if before is not None else 0):
                gaps.append(_gap(before, shard.first_batch))
            before = shard
        if manifest.is_complete and not gaps and len(sound) == len(manifest.shards):
            return manifest, []
        gaps.append(_gap(before, None))
        return replace(manifest, shards=tuple(sound), is_complete=False, ended_early=""), gaps


def _is_own(name: str) -> bool:
    return name in (NAME, STATISTICS) or SHARD_FILE.fullmatch(name) is not None


def _is_unfinished(name: str) -> bool:
    """Whether a killed capture left it: under a name of now, or of before."""
    return _is_own(final_name(name) or name.removesuffix(_WRITING)) and name.endswith(_WRITING)


def _gap(before: Shard | None, end: int | None) -> Gap:
    if before is None:
        return Gap(0, end, 0, None)
    return Gap(before.end_batch, end, before.first_row + before.examples, before)


class FileBeingWritten:
    """A file under a name of its own, until it is whole. Sums up what is written to it.

    Args:
        folder: whose it is.
        path: where it will be.

    Attributes:
        size: how much was written.

    Raises:
        CaptureError: the disk is full, or takes nothing; so do all methods but `drop`.
    """

    closed = False  # what Arrow asks of a file

    def __init__(self, folder: Folder, path: str) -> None:
        self._folder, self._path = folder, path
        self.size = 0
        self._checksum = new_checksum()
        self._block = memory_of(_PIECE).data[:_PIECE]
        with self._disk_errors():
            self._file = NewFile(path)

    def write(self, data: Any) -> int:
        """Adds to it."""
        content = memoryview(data).cast("B")
        left = content
        while left.nbytes:
            place = self.size % _PIECE
            part = left[: _PIECE - place]
            self._block[place : place + part.nbytes] = part
            self.size += part.nbytes
            left = left[part.nbytes :]
            if not self.size % _PIECE:
                self._write_block(_PIECE)
        return content.nbytes

    def flush(self) -> None:
        """Nothing waits here."""

    def finish(self, is_settled: bool = False) -> tuple[int, str]:
        """Lets it take its place; gives its size and checksum."""
        self._write_block(self.size % _PIECE)
        checksum = checksum_text(self._checksum)
        with self._disk_errors():
            state = os.fstat(self._file.file.fileno())
            self._file.finish(durable=is_settled)
        mark_verified(checksum, state)
        return self.size, checksum

    def _write_block(self, size: int) -> None:
        """Writes in whole blocks, each at a multiple of its size: the system then keeps it in large pages, and a map of
        the file is read a fifth faster."""
        block = self._block[:size]
        self._checksum.update(block)
        with self._disk_errors():
            self._file.write(block)

    def drop(self) -> None:
        """Removes it, if it was not finished."""
        self._file.discard()

    @contextlib.contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._folder.disk_error(error, self._path) from error


def _lock(handle: int, path: str) -> None:
    try:
        import fcntl
    except ImportError:  # not on Windows, where two captures into one folder are up to their users
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(
            f"capture: another process is capturing to {path!r} right now. Wait for it, or name another folder."
        ) from None
    except OSError:  # a file system without locks
        return
