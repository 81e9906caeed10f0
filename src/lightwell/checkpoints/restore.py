"""Restoring a checkpoint into an open session: the one asked for, checked against the model, or the next that is sound.

Takes a session, its saver and a checkpoint's prefix; gives the prefix of the checkpoint that was taken. The session is
used and left open.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.compare import Form, Shape, check_fits
from lightwell.checkpoints.index import exists, is_in, newest_first, newest_usable
from lightwell.checkpoints.live import LiveWeights, restore_ops
from lightwell.errors import CheckpointUnreadable, reason_of
from lightwell.log import logger

_MOST_TRIES = 20
_NO_OLDER = "No older checkpoint can be read; restore them from a backup, or move the directory away."
_ANOTHER = (
    "It was asked for by checkpoint_path; name another one, or leave checkpoint_path out for the newest sound one."
)


Source = str | LiveWeights
"""Where weights come from: a checkpoint's prefix, or another session."""


def restore(session: Any, saver: Any, checkpoint: Source, *, exact: bool, saves_to: str = "") -> str:
    """Restores `checkpoint`, or unless `exact` one that will do in its place; returns which.

    Args:
        session: an open session.
        saver: a `tf.compat.v1.train.Saver` of its graph.
        checkpoint: the checkpoint's prefix; or weights of another session, which are of no checkpoint.
        exact: whether it must be that one, which the user named.
        saves_to: the directory in which the saver shall go on; it is told of the checkpoints there, counts them, and
            removes the oldest. Those that a state file names elsewhere are read, and are not ours to remove.

    Another process that trains in the directory deletes old checkpoints, also the one that we were about to read. It
    has written a newer one then.
    """
    if isinstance(checkpoint, LiveWeights):
        checkpoint.copy_to(session, saver)
        return ""
    wanted = checkpoint
    for _ in range(_MOST_TRIES):
        try:
            taken = _restore_sound(session, saver, checkpoint, exact)
        except CheckpointUnreadable:
            newer = None if exact or exists(checkpoint) else newest_usable(os.path.dirname(checkpoint))
            if newer is None or newer == checkpoint:
                raise
            checkpoint = newer
        else:
            if checkpoint != wanted:
                logger.info("Checkpoint %s has been deleted meanwhile; took %s.", wanted, taken)
            break
    else:
        taken = _restore_sound(session, saver, checkpoint, exact)
    if saves_to:
        _keep_numbering(saver, saves_to)
    return taken


def version_of(checkpoint: Source | None) -> Any:
    """What tells one checkpoint from another, also from one written anew under the same name.

    Its index has a checksum of every value; the times of files are too coarse to go by.
    """
    if checkpoint is None:
        return None
    if isinstance(checkpoint, LiveWeights):
        return object()  # moving on: equal to none
    try:
        with tf.io.gfile.GFile(checkpoint + ".index", "rb") as file:
            return checkpoint, hashlib.blake2b(file.read()).digest()
    except tf.errors.OpError:
        return object()  # deleted meanwhile


def _restore_sound(session: Any, saver: Any, checkpoint: str, exact: bool) -> str:
    """Restores `checkpoint`; one whose data turn out damaged is reported, and unless `exact` an older one taken."""
    candidates = [checkpoint] if exact else _with_older_ones(checkpoint)
    damaged: list[str] = []
    for candidate in candidates:
        check_fits(candidate, wanted_by_restore(session.graph, saver))
        try:
            saver.restore(session, candidate)
        except (tf.errors.DataLossError, tf.errors.OutOfRangeError) as error:
            damaged.append(f"Checkpoint {candidate} is damaged ({reason_of(error)}).")
            if candidate != candidates[-1]:
                logger.warning("%s Trying an older one.", damaged[-1])
        except (ValueError, tf.errors.NotFoundError) as error:
            if exists(candidate):
                raise
            # The saver looked for the files of a checkpoint that was there a moment ago.
            raise CheckpointUnreadable(f"Checkpoint {candidate} is gone: {reason_of(error)}") from error
        else:
            return candidate
    raise CheckpointUnreadable(f"{' '.join(damaged)} {_ANOTHER if exact else _NO_OLDER}")


def _with_older_ones(checkpoint: str) -> list[str]:
    known = list(newest_first(os.path.dirname(checkpoint)))
    return known[known.index(checkpoint) :] if checkpoint in known else [checkpoint]


def _keep_numbering(saver: Any, directory: str) -> None:
    """Tells the saver which checkpoints a directory has, so that it counts and removes the old ones too."""
    known = [path for path in reversed(list(newest_first(directory))) if is_in(path, directory)]
    with_times = [
        (path, tf.io.gfile.stat(path + ".index").mtime_nsec / 1e9)
        for path in known
        if tf.io.gfile.exists(path + ".index")
    ]
    saver.set_last_checkpoints_with_time(with_times)


def wanted_by_restore(graph: tf.Graph, saver: Any) -> Iterator[tuple[str, Form]]:
    """The names, shapes and types that a saver will look for in a checkpoint, read off its restore ops.

    Read from the graph and not from the saver, because a saver of the user may rename what it saves.
    """
    for op in restore_ops(graph, saver):
        names, slices = (tf.get_static_value(tensor) for tensor in op.inputs[1:3])
        if names is None:  # names computed in the graph: nothing to compare with before the restore itself
            continue
        for name, part, value in zip(names, slices, op.outputs, strict=True):
            shape = _full_shape(part.decode()) if part else _assigned_shape(value)
            if shape is not None:
                yield name.decode(), Form(shape, value.dtype.base_dtype)


def _full_shape(shape_and_slice: str) -> Shape:
    """`"10 4 0,5:0,4"` says: rows 0 to 5 of a variable of shape [10, 4]."""
    return tuple(int(size) for size in shape_and_slice.split(" ")[:-1])


def _assigned_shape(value: Any) -> Shape | None:
    """The static shape of the variable that a restored value is assigned to."""
    left = list(value.consumers())
    for _ in range(8):  # a short way: Identity, a reshape or a cast, then the assignment
        following: list[Any] = []
        for op in left:
            if op.type in ("AssignVariableOp", "Assign"):
                shape = op.inputs[0].op.get_attr("shape")
                return None if shape.unknown_rank else tuple(d.size if d.size >= 0 else None for d in shape.dim)
            if op.type == "Reshape":
                return None
            following.extend(consumer for output in op.outputs for consumer in output.consumers())
        left = following
    return None
