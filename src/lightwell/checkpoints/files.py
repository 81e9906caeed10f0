"""The files of checkpoints: copied, removed, and named in a state file, so that a reader never meets half of one.

Whoever is killed at any point leaves files that nobody takes for a checkpoint: a checkpoint is one once its index is
there, which comes last and goes first.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence

import tensorflow as tf

from lightwell.checkpoints.index import is_in, newest_first
from lightwell.errors import CheckpointUnreadable, reason_of
from lightwell.keys import CHECKPOINT_STATE

_PART = re.compile(r"(?P<prefix>.+)\.(index|meta|data-\d+-of-\d+)")
_UNFINISHED = ".writing"


def replace_file(path: str, content: str | bytes, *, durable: bool = False) -> None:
    """Writes a file so that a reader sees the old one or all of the new; `durable`: also after a loss of power."""
    with tf.io.gfile.GFile(path + _UNFINISHED, "w" if isinstance(content, str) else "wb") as file:
        file.write(content)
    if durable:
        make_durable([path + _UNFINISHED])
    tf.io.gfile.rename(path + _UNFINISHED, path, overwrite=True)
    if durable:
        make_durable([os.path.dirname(path)])


def append_line(path: str, line: str, *, durable: bool = False) -> None:
    """Adds a line to a text file; one that a crash cut short stays apart from it."""
    before = ""
    if tf.io.gfile.exists(path):
        with tf.io.gfile.GFile(path, "rb") as file:
            size = file.size()
            file.seek(max(0, size - 1))
            before = "\n" if size and file.read(1) != b"\n" else ""
    with tf.io.gfile.GFile(path, "a") as file:
        file.write(f"{before}{line}\n")
    if durable:
        make_durable([path])


def make_durable(paths: Iterable[str]) -> None:
    """Has the operating system bring files and directories to the disk; storage elsewhere does so by itself."""
    for path in paths:
        if "://" not in path:
            file = os.open(path or ".", os.O_RDONLY)
            try:
                os.fsync(file)
            except OSError:  # a file system that cannot, or not for directories
                pass
            finally:
                os.close(file)


def copy_checkpoint(prefix: str, directory: str) -> str:
    """Copies a checkpoint into a directory, as hard links where the file system has them; gives the copy's prefix.

    One of the same name there is replaced, unless it is the same.

    Raises:
        CheckpointUnreadable: it is not there, or not any more.
    """
    copy = os.path.join(directory, os.path.basename(prefix))
    if same_checkpoint(copy, prefix):
        return copy
    remove_checkpoint(copy)
    files = files_of(prefix)
    if not files or files[-1] != f"{prefix}.index":
        raise CheckpointUnreadable(f"Checkpoint {prefix} cannot be copied to {directory}: it is not there any more.")
    tf.io.gfile.makedirs(directory)
    try:
        for file in files:
            _copy_file(file, os.path.join(directory, os.path.basename(file)))
    except (FileNotFoundError, tf.errors.NotFoundError) as error:
        remove_checkpoint(copy)
        raise CheckpointUnreadable(
            f"Checkpoint {prefix} was deleted while it was copied to {directory}: {reason_of(error)}."
        ) from error
    return copy


def same_checkpoint(one: str, other: str) -> bool:
    """Whether two checkpoints are there, and hold the same values: their indices have checksums of them."""
    index = _index_of(one)
    return index is not None and index == _index_of(other)


def remove_checkpoint(prefix: str) -> None:
    """Removes the files of a checkpoint, as far as there are any."""
    for file in reversed(files_of(prefix)):
        tf.io.gfile.remove(file)


def remove_all_but(directory: str, prefixes: Sequence[str]) -> None:
    """Removes what a killed copy left in a directory, and checkpoints that are not wanted."""
    wanted = {os.path.basename(prefix) for prefix in prefixes}
    found = {_PART.fullmatch(name) for name in _listed(directory)}
    for name in {match["prefix"] for match in found if match} - wanted:
        remove_checkpoint(os.path.join(directory, name))
    for name in _listed(directory):
        if name.endswith(_UNFINISHED):
            tf.io.gfile.remove(os.path.join(directory, name))


def name_checkpoints(directory: str, prefixes: Sequence[str], *, durable: bool = False) -> None:
    """Makes `prefixes` the checkpoints that the state file of a directory names, the last one as the newest."""
    state = os.path.join(directory, CHECKPOINT_STATE)
    if not prefixes:
        if tf.io.gfile.exists(state):
            tf.io.gfile.remove(state)
        return
    lines = [("model_checkpoint_path", prefixes[-1])]
    lines += [("all_model_checkpoint_paths", prefix) for prefix in prefixes]
    # Names without the directory, as a training writes them: it may be moved.
    named = [(field, os.path.basename(path) if is_in(path, directory) else path) for field, path in lines]
    text = "".join(f"{field}: {json.dumps(path)}\n" for field, path in named)
    replace_file(state, text, durable=durable)


def make_newest(directory: str, prefix: str) -> str:
    """Makes a checkpoint the newest of a directory, those that are there stay; gives its prefix there."""
    own = copy_checkpoint(prefix, directory)
    others = [path for path in reversed(list(newest_first(directory))) if path != own]
    name_checkpoints(directory, [*others, own])
    return own


def files_of(prefix: str) -> list[str]:
    """The files of a checkpoint, the index last."""
    directory, name = os.path.split(prefix)
    found = [file for file in _listed(directory) if (match := _PART.fullmatch(file)) and match["prefix"] == name]
    return [os.path.join(directory, file) for file in sorted(found, key=lambda file: file.endswith(".index"))]


def _listed(directory: str) -> list[str]:
    return sorted(tf.io.gfile.listdir(directory)) if tf.io.gfile.isdir(directory) else []


def _copy_file(file: str, target: str) -> None:
    if "://" not in file and "://" not in target:
        try:
            os.link(file, target)
        except FileNotFoundError:
            raise
        except OSError:  # another disk, or one without links
            pass
        else:
            return
    tf.io.gfile.copy(file, target + _UNFINISHED, overwrite=True)
    tf.io.gfile.rename(target + _UNFINISHED, target, overwrite=True)


def _index_of(prefix: str) -> bytes | None:
    try:
        with tf.io.gfile.GFile(f"{prefix}.index", "rb") as file:
            content: bytes = file.read()
            return content
    except tf.errors.OpError:
        return None
