"""Commits an edited checkpoint: all of it or nothing, whenever the program is killed.

Takes a function that writes the files; returns the prefix of the checkpoint that is the newest from then on. Order: the
files are written to a temporary folder and synced to disk, they get their names, the lineage gets a line, and at last
one rename updates the state file. Until then every reader sees the old state.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

import tensorflow as tf

from lightwell.base.keys import CHECKPOINT_PREFIX, CHECKPOINT_STATE
from lightwell.base.safe_files import (
    TOKEN,
    copy_file,
    make_durable,
    make_unique_folder,
    matching_folders,
    remove_tree,
    remove_unfinished,
)
from lightwell.errors import CheckpointUnreadable, ModelInUse, UsageError, disk_error, reason_of
from lightwell.run.checkpoints.directory_locks import lock_exclusively
from lightwell.run.checkpoints.files import copy_checkpoint, files_of, name_checkpoints, remove_checkpoint
from lightwell.run.checkpoints.index import exists, is_in, newest_complete, newest_first, step_of
from lightwell.run.checkpoints.lineage import (
    EDIT,
    FILE_NAME,
    REVERT,
    Change,
    append_origin,
    history,
    new_origin,
    origins,
)
from lightwell.run.checkpoints.restore import version_of

_TEMPORARY = ".edit-"
_LEFT = re.compile(re.escape(_TEMPORARY) + rf"(?:{TOKEN}|[0-9a-f]{{12}})")
_EDITED = re.compile(re.escape(CHECKPOINT_PREFIX) + r"-edit(\d+)-\d+")
_FILES = (CHECKPOINT_STATE, FILE_NAME)
_OF_DISKS = (tf.errors.OpError, OSError)


def edited_name(directory: str, step: int) -> str:
    """The name of the next edited checkpoint, `model.ckpt-edit1-100`; never one that was used before.

    It ends with the step, as names of checkpoints do, and differs from the name that a training gives this step.
    """
    names = [one.checkpoint for one in history(directory)] + [
        os.path.basename(path) for path in newest_first(directory)
    ]
    names += [name.removesuffix(".index") for name in tf.io.gfile.listdir(directory)]
    known = [int(match[1]) for name in names if (match := _EDITED.fullmatch(name))]
    return f"{CHECKPOINT_PREFIX}-edit{max(known, default=0) + 1}-{step}"


def is_edited(prefix: str) -> bool:
    """Whether a checkpoint is an edited one, by its name."""
    return _EDITED.fullmatch(os.path.basename(prefix)) is not None


def commit_edit(
    directory: str,
    parent: str,
    version: object,
    write: Callable[[str], None],
    edits: Sequence[Change],
    note: str,
    most: int | None,
) -> str:
    """Writes an edited checkpoint and makes it the newest; returns its prefix.

    Args:
        directory: the `model_dir`.
        parent: the checkpoint that was edited.
        version: its `version_of`, when the edit began.
        write: takes a prefix and writes the files of a checkpoint.
        edits: the changes, for the lineage.
        note: the user's note.
        most: how many checkpoints to keep; None or 0 for all. The parent stays, so that the edit can be undone.

    Raises:
        ModelInUse: somebody trains in the directory, or has done so since the edit began.
        ModelDirError: the files cannot be written.
    """
    with lock_exclusively(directory, EDIT):
        if newest_complete(directory) != parent or version_of(parent) != version:
            raise ModelInUse(
                f"edit: {directory} has got another newest checkpoint ({newest_complete(directory)}) since this edit "
                f"began from {parent}: somebody trained or edited meanwhile. Nothing was written; edit again."
            )
        _sweep(directory)
        name = edited_name(directory, step_of(parent) or 0)
        try:
            temporary = make_unique_folder(directory, _TEMPORARY)
            write(os.path.join(temporary, name))
            if tf.io.gfile.exists(f"{parent}.meta"):
                copy_file(f"{parent}.meta", os.path.join(temporary, f"{name}.meta"))
            make_durable(files_of(os.path.join(temporary, name)))
            own = copy_checkpoint(os.path.join(temporary, name), directory)
            make_durable([*files_of(own), directory])
            append_origin(directory, new_origin(own, parent, EDIT, edits, note), durable=True)
            surplus = _make_newest(directory, own, parent, most)
        except _OF_DISKS as error:
            remove_checkpoint(os.path.join(directory, name))
            what = f"edit: the new checkpoint could not be written to {directory}: {reason_of(error)}"
            raise disk_error(error, f"{what}. The model is as it was; free space or mend the rights.") from error
        finally:
            _sweep(directory)
        for old in surplus:
            remove_checkpoint(old)
        return own


def commit_revert(directory: str, newest: str, checkpoint: str | None) -> str:
    """Makes `checkpoint`, or the parent of the newest one, the newest again; returns its prefix.

    Raises:
        UsageError: the parent is not known, or the checkpoint is gone.
        ModelInUse: somebody trains in the directory.
    """
    with lock_exclusively(directory, REVERT):
        target, known = _revert_target(directory, newest, checkpoint), origins(directory)
        origin = new_origin(target, None, REVERT, note=f"from {os.path.basename(newest)}")
        before = known.get(origin.checkpoint)
        if before is not None and before.hash != origin.hash:
            raise UsageError(
                f"revert: {target} has been written anew by another program (its hash was {before.hash}, and is "
                f"{origin.hash}): these are not the weights that the lineage tells of. To take it all the same, name "
                "it in the state file: tf.compat.v1.train.update_checkpoint_state(model_dir, checkpoint)."
            )
        append_origin(directory, origin, durable=True)
        _make_newest(directory, target, target, None)
        return target


def _revert_target(directory: str, newest: str, checkpoint: str | None) -> str:
    names = [os.path.basename(path) for path in newest_first(directory) if exists(path)]
    if checkpoint is None:
        origin = origins(directory).get(os.path.basename(newest))
        if origin is None or origin.parent is None:
            raise UsageError(
                f"revert: no parent of {os.path.basename(newest)} is recorded in {directory}. Name the checkpoint to "
                f"go back to: est.revert({names[-1] if names else 'model.ckpt-…'!r}). There are {', '.join(names)}."
            )
        checkpoint = origin.parent
    path = os.path.join(directory, os.path.basename(checkpoint))
    if not exists(path) or (os.path.dirname(checkpoint) and not is_in(checkpoint, directory)):
        raise UsageError(
            f"revert: there is no checkpoint {os.path.basename(checkpoint)} in {directory} (any more); there are "
            f"{', '.join(names)}. How many are kept is RunConfig.keep_checkpoint_max."
        )
    return path


def _make_newest(directory: str, own: str, parent: str, most: int | None) -> list[str]:
    """Names a checkpoint as the newest in the state file; returns the surplus ones, which it names no longer."""
    others = [path for path in reversed(list(newest_first(directory))) if path != own]
    surplus: list[str] = []
    if most:
        # Checkpoints in other directories are never removed.
        removable = [path for path in others if path != parent and is_in(path, directory)]
        surplus = removable[: max(0, len(others) + 1 - most)]
    name_checkpoints(directory, [*(path for path in others if path not in surplus), own], durable=True)
    return surplus


def _sweep(directory: str) -> None:
    """Removes leftovers of killed edits. The caller must have the exclusive lock."""
    for path in matching_folders(directory, _LEFT):
        remove_tree(path)
    remove_unfinished(directory, 0.0, lambda name: name in _FILES or name.startswith(f"{CHECKPOINT_PREFIX}-"))


def checked_parent(checkpoint: str) -> str:
    """A checkpoint that an edit may start from.

    Raises:
        CheckpointUnreadable: it is in the old format, in one file.
    """
    if not tf.io.gfile.exists(f"{checkpoint}.index"):
        raise CheckpointUnreadable(
            f"edit: {checkpoint} is in the format of checkpoints before TensorFlow 1.0, or not there. Train one step "
            "from it; that writes it anew."
        )
    return checkpoint
