"""Restores a checkpoint into an open session, after comparing it with the model, or the next one that is sound.

Takes a session, its saver and a checkpoint's prefix; returns the prefix of the restored checkpoint.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import CheckpointUnreadable, reason_of
from lightwell.run.checkpoints.compare import Shape, ValueSpec, check_fits
from lightwell.run.checkpoints.index import exists, is_in, newest_first, newest_usable
from lightwell.run.checkpoints.live import LiveWeights, restore_ops

_MOST_TRIES = 20
_NO_OLDER = "No older checkpoint can be read; restore them from a backup, or move the directory away."
_ANOTHER = (
    "It was asked for by checkpoint_path; name another one, or leave checkpoint_path out for the newest sound one."
)


Source = str | LiveWeights
"""Where weights come from: a checkpoint's prefix, or another session."""


def restore(session: Any, saver: Any, checkpoint: Source, *, exact: bool, saves_to: str = "") -> str:
    """Restores `checkpoint`, or unless `exact` a substitute; returns the one restored.

    Args:
        session: an open session.
        saver: a `tf.compat.v1.train.Saver` of its graph.
        checkpoint: the checkpoint's prefix; or weights of another session.
        exact: whether it must be that one, which the user named.
        saves_to: the directory in which the saver will save; it counts the checkpoints there, and removes the oldest.
            Those that a state file names elsewhere are never removed.

    Another process that trains in the directory may delete the checkpoint before it is read. It has written a newer one
    then.
    """
    if isinstance(checkpoint, LiveWeights):
        checkpoint.copy_to(session, saver)
        return ""
    requested = checkpoint
    for _ in range(_MOST_TRIES):
        try:
            taken = _restore_sound(session, saver, checkpoint, exact)
        except CheckpointUnreadable:
            newer = None if exact or exists(checkpoint) else newest_usable(os.path.dirname(checkpoint))
            if newer is None or newer == checkpoint:
                raise
            checkpoint = newer
        else:
            if checkpoint != requested:
                logger.info("Checkpoint %s has been deleted meanwhile; took %s.", requested, taken)
            break
    else:
        taken = _restore_sound(session, saver, checkpoint, exact)
    if saves_to:
        _register_existing(saver, saves_to)
    return taken


def version_of(checkpoint: Source | None) -> Any:
    """A value that differs between checkpoints, also between two written under the same name.

    It hashes the index, which has a checksum of every value; the times of files are too coarse.
    """
    if checkpoint is None:
        return None
    if isinstance(checkpoint, LiveWeights):
        return object()  # the weights change: equal to nothing
    try:
        with tf.io.gfile.GFile(checkpoint + ".index", "rb") as file:
            return checkpoint, hashlib.blake2b(file.read()).digest()
    except tf.errors.OpError:
        return object()  # deleted meanwhile


def _restore_sound(session: Any, saver: Any, checkpoint: str, exact: bool) -> str:
    """Restores `checkpoint`; if its data are damaged, warns, and unless `exact` restores an older one."""
    candidates = [checkpoint] if exact else _with_older_ones(checkpoint)
    damaged: list[str] = []
    for candidate in candidates:
        check_fits(candidate, variables_to_restore(session.graph, saver))
        try:
            saver.restore(session, candidate)
        except (tf.errors.DataLossError, tf.errors.OutOfRangeError) as error:
            damaged.append(f"Checkpoint {candidate} is damaged ({reason_of(error)}).")
            if candidate != candidates[-1]:
                logger.warning("%s Trying an older one.", damaged[-1])
        except (ValueError, tf.errors.NotFoundError) as error:
            if exists(candidate):
                raise
            # The files were deleted since the check.
            raise CheckpointUnreadable(f"Checkpoint {candidate} is gone: {reason_of(error)}") from error
        else:
            return candidate
    raise CheckpointUnreadable(f"{' '.join(damaged)} {_ANOTHER if exact else _NO_OLDER}")


def _with_older_ones(checkpoint: str) -> list[str]:
    known = list(newest_first(os.path.dirname(checkpoint)))
    return known[known.index(checkpoint) :] if checkpoint in known else [checkpoint]


def _register_existing(saver: Any, directory: str) -> None:
    """Registers the checkpoints of a directory with the saver, so that it counts and removes the old ones too."""
    known = [path for path in reversed(list(newest_first(directory))) if is_in(path, directory)]
    with_times = [
        (path, tf.io.gfile.stat(path + ".index").mtime_nsec / 1e9)
        for path in known
        if tf.io.gfile.exists(path + ".index")
    ]
    saver.set_last_checkpoints_with_time(with_times)


def variables_to_restore(graph: tf.Graph, saver: Any) -> Iterator[tuple[str, ValueSpec]]:
    """The names, shapes and types that a saver will read from a checkpoint, taken from its restore ops.

    Read from the graph and not from the saver, because a saver of the user may rename what it saves.
    """
    for op in restore_ops(graph, saver):
        names, slices = (tf.get_static_value(tensor) for tensor in op.inputs[1:3])
        if names is None:  # names computed in the graph: nothing to compare with before the restore itself
            continue
        for name, part, value in zip(names, slices, op.outputs, strict=True):
            shape = _full_shape(part.decode()) if part else _assigned_shape(value)
            if shape is not None:
                yield name.decode(), ValueSpec(shape, value.dtype.base_dtype)


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
