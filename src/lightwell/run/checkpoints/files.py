"""Copies, removes and names the files of checkpoints, so that a reader never sees half of one.

A checkpoint counts once its index exists, which is written last and removed first. So a kill at any point leaves files
that no reader takes for a checkpoint.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

import tensorflow as tf

from lightwell.base.keys import CHECKPOINT_STATE
from lightwell.base.safe_files import TOKEN, copy_file, is_link, is_plain_file, local_path, remove_file, replace_file
from lightwell.errors import CheckpointUnreadable, reason_of
from lightwell.run.checkpoints.index import is_in, newest_first

_PART = re.compile(r"(?P<prefix>.+)\.(index|meta|data-\d+-of-\d+)")
_UNFINISHED = re.compile(rf".+?(\.{TOKEN})?\.writing")


def copy_checkpoint(prefix: str, directory: str) -> str:
    """Copies a checkpoint into a directory, by hard links where possible; returns the copy's prefix.

    One of the same name there is replaced, unless it is the same.

    Raises:
        CheckpointUnreadable: it does not exist, or was deleted meanwhile.
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


def link_checkpoint(prefix: str, own: str) -> None:
    """Links the files of a checkpoint under a second name, the index last, which makes it complete."""
    for file in files_of(prefix):
        _copy_file(file, own + file.removeprefix(prefix))


def same_checkpoint(one: str, other: str) -> bool:
    """Whether two checkpoints exist and hold the same values, by the checksums in their indices."""
    index = _index_of(one)
    return index is not None and index == _index_of(other)


def remove_checkpoint(prefix: str) -> None:
    """Removes the files of a checkpoint, if there are any."""
    for file in reversed(files_of(prefix)):
        remove_file(file)


def first_part_in(directory: str) -> str | None:
    """A file in a directory that looks like a part of a checkpoint; None if there is none."""
    parts = [name for name in _listed(directory) if _PART.fullmatch(name)]
    return os.path.join(directory, parts[0]) if parts else None


def remove_all_but(directory: str, prefixes: Sequence[str]) -> None:
    """Removes unfinished files and all checkpoints but `prefixes` from a directory."""
    names = {os.path.basename(prefix) for prefix in prefixes}
    matches = {_PART.fullmatch(name) for name in _listed(directory)}
    for name in {match["prefix"] for match in matches if match} - names:
        remove_checkpoint(os.path.join(directory, name))
    for name in _listed(directory):
        if _UNFINISHED.fullmatch(name) and is_plain_file(os.path.join(directory, name)):
            remove_file(os.path.join(directory, name))


def name_checkpoints(directory: str, prefixes: Sequence[str], *, durable: bool = False) -> None:
    """Makes `prefixes` the checkpoints that the state file of a directory names, the last one as the newest."""
    state = os.path.join(directory, CHECKPOINT_STATE)
    if not prefixes:
        remove_file(state)
        return
    lines = [("model_checkpoint_path", prefixes[-1])]
    lines += [("all_model_checkpoint_paths", prefix) for prefix in prefixes]
    # Names without the directory, as a training writes them: it may be moved.
    named = [(field, os.path.basename(path) if is_in(path, directory) else path) for field, path in lines]
    text = "".join(f"{field}: {json.dumps(path)}\n" for field, path in named)
    replace_file(state, text, durable=durable)


def make_newest(directory: str, prefix: str) -> str:
    """Copies a checkpoint into a directory as its newest, next to the others; returns its prefix there."""
    own = copy_checkpoint(prefix, directory)
    others = [path for path in reversed(list(newest_first(directory))) if path != own]
    name_checkpoints(directory, [*others, own])
    return own


def files_of(prefix: str) -> list[str]:
    """The files of a checkpoint, the index last."""
    directory, name = os.path.split(prefix)
    files = [file for file in _listed(directory) if (match := _PART.fullmatch(file)) and match["prefix"] == name]
    return [os.path.join(directory, file) for file in sorted(files, key=lambda file: file.endswith(".index"))]


def _listed(directory: str) -> list[str]:
    return sorted(tf.io.gfile.listdir(directory)) if tf.io.gfile.isdir(directory) else []


def _copy_file(file: str, target: str) -> None:
    own, other = local_path(file), local_path(target)
    if own is not None and other is not None and not is_link(own):
        try:
            os.link(own, other)
        except FileNotFoundError:
            raise
        except OSError:  # another disk, or one without links
            pass
        else:
            return
    copy_file(file, target)


def _index_of(prefix: str) -> bytes | None:
    try:
        with tf.io.gfile.GFile(f"{prefix}.index", "rb") as file:
            content: bytes = file.read()
            return content
    except tf.errors.OpError:
        return None
