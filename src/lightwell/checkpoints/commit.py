"""An edited checkpoint put in its place: all of it, or nothing of it, whenever the program is killed.

Takes a function that writes the files; gives the prefix of the checkpoint that is the newest from then on. Order: the
files are written beside and brought to the disk, they get their names, the lineage is told, and at last the state file
names them, by one rename. Until then every reader finds what was there before.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence

import tensorflow as tf

from lightwell.checkpoints.files import copy_checkpoint, files_of, name_checkpoints, remove_checkpoint
from lightwell.checkpoints.index import exists, is_in, newest_complete, newest_first, step_of
from lightwell.checkpoints.lineage import EDIT, FILE_NAME, REVERT, Change, history, origin_now, origins, write_down
from lightwell.checkpoints.restore import version_of
from lightwell.checkpoints.turns import alone_in
from lightwell.errors import CheckpointUnreadable, ModelInUse, UsageError, disk_error, reason_of
from lightwell.keys import CHECKPOINT_PREFIX, CHECKPOINT_STATE
from lightwell.own_files import TOKEN, copy_file, folders_like, make_durable, new_folder, remove_tree, remove_unfinished

_BESIDE = ".edit-"
_LEFT = re.compile(re.escape(_BESIDE) + rf"(?:{TOKEN}|[0-9a-f]{{12}})")
_EDITED = re.compile(re.escape(CHECKPOINT_PREFIX) + r"-edit(\d+)-\d+")
_FILES = (CHECKPOINT_STATE, FILE_NAME)
_OF_DISKS = (tf.errors.OpError, OSError)


def edited_name(directory: str, step: int) -> str:
    """The name of the next edited checkpoint: `model.ckpt-edit1-100`, and never one that was there before.

    It ends with the step, as names of checkpoints do, and differs from that of what a training saved at this step.
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
    """Writes an edited checkpoint and makes it the newest; gives its prefix.

    Args:
        directory: the `model_dir`.
        parent: the checkpoint that was edited.
        version: `version_of` it, when the edit began.
        write: writes the files of a checkpoint, given its prefix.
        edits: what was changed, for the lineage.
        note: what the user said of it.
        most: how many checkpoints to keep; None or 0 for all. The parent stays, so that the edit can be undone.

    Raises:
        ModelInUse: somebody trains in the directory, or has done so since the edit began.
        ModelDirError: the files cannot be written.
    """
    with alone_in(directory, EDIT):
        if newest_complete(directory) != parent or version_of(parent) != version:
            raise ModelInUse(
                f"edit: {directory} has got another newest checkpoint ({newest_complete(directory)}) since this edit "
                f"began from {parent}: somebody trained or edited meanwhile. Nothing was written; edit again."
            )
        _sweep(directory)
        name = edited_name(directory, step_of(parent) or 0)
        try:
            beside = new_folder(directory, _BESIDE)
            write(os.path.join(beside, name))
            if tf.io.gfile.exists(f"{parent}.meta"):
                copy_file(f"{parent}.meta", os.path.join(beside, f"{name}.meta"))
            make_durable(files_of(os.path.join(beside, name)))
            own = copy_checkpoint(os.path.join(beside, name), directory)
            make_durable([*files_of(own), directory])
            write_down(directory, origin_now(own, parent, EDIT, edits, note), durable=True)
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


def commit_revert(directory: str, newest: str, wanted: str | None) -> str:
    """Makes the parent of the newest checkpoint, or the one wanted, the newest again; gives its prefix.

    Raises:
        UsageError: it is not known which, or it is not there any more.
        ModelInUse: somebody trains in the directory.
    """
    with alone_in(directory, REVERT):
        target, known = _found(directory, newest, wanted), origins(directory)
        origin = origin_now(target, None, REVERT, note=f"from {os.path.basename(newest)}")
        before = known.get(origin.checkpoint)
        if before is not None and before.hash != origin.hash:
            raise UsageError(
                f"revert: {target} has been written anew by another program (its hash was {before.hash}, and is "
                f"{origin.hash}): these are not the weights that the lineage tells of. To take it all the same, name "
                "it in the state file: tf.compat.v1.train.update_checkpoint_state(model_dir, checkpoint)."
            )
        write_down(directory, origin, durable=True)
        _make_newest(directory, target, target, None)
        return target


def _found(directory: str, newest: str, wanted: str | None) -> str:
    there = [os.path.basename(path) for path in newest_first(directory) if exists(path)]
    if wanted is None:
        origin = origins(directory).get(os.path.basename(newest))
        if origin is None or origin.parent is None:
            raise UsageError(
                f"revert: no parent of {os.path.basename(newest)} is recorded in {directory}. Name the checkpoint to "
                f"go back to: est.revert({there[-1] if there else 'model.ckpt-…'!r}). There are {', '.join(there)}."
            )
        wanted = origin.parent
    path = os.path.join(directory, os.path.basename(wanted))
    if not exists(path) or (os.path.dirname(wanted) and not is_in(wanted, directory)):
        raise UsageError(
            f"revert: there is no checkpoint {os.path.basename(wanted)} in {directory} (any more); there are "
            f"{', '.join(there)}. How many are kept is RunConfig.keep_checkpoint_max."
        )
    return path


def _make_newest(directory: str, own: str, parent: str, most: int | None) -> list[str]:
    """Names a checkpoint as the newest; gives those that are too many, which are not named any more."""
    others = [path for path in reversed(list(newest_first(directory))) if path != own]
    surplus: list[str] = []
    if most:
        # What the state file names elsewhere is not ours to remove.
        removable = [path for path in others if path != parent and is_in(path, directory)]
        surplus = removable[: max(0, len(others) + 1 - most)]
    name_checkpoints(directory, [*(path for path in others if path not in surplus), own], durable=True)
    return surplus


def _sweep(directory: str) -> None:
    """Removes what killed edits left beside. Called by whoever is alone in the directory."""
    for path in folders_like(directory, _LEFT):
        remove_tree(path)
    remove_unfinished(directory, 0.0, lambda name: name in _FILES or name.startswith(f"{CHECKPOINT_PREFIX}-"))


def checked_parent(checkpoint: str) -> str:
    """A checkpoint that an edit may start from.

    Raises:
        CheckpointUnreadable: it is in the format of old, in one file.
    """
    if not tf.io.gfile.exists(f"{checkpoint}.index"):
        raise CheckpointUnreadable(
            f"edit: {checkpoint} is in the format of checkpoints before TensorFlow 1.0, or not there. Train one step "
            "from it; that writes it anew."
        )
    return checkpoint
