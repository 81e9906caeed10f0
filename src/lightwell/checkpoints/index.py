"""Which checkpoints does a directory have, and which of them can be used?

Takes directories and checkpoint prefixes, gives prefixes. Reads the `checkpoint` state file that TensorFlow keeps.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.reader import open_checkpoint
from lightwell.errors import CheckpointUnreadable
from lightwell.log import logger

_NUMBERED = re.compile(r"-(\d+)$")


def latest_checkpoint(directory: str) -> str | None:
    """The newest checkpoint that `directory`'s state file names and whose files exist, as TensorFlow tells it."""
    return tf.train.latest_checkpoint(directory)


def newest_usable(directory: str) -> str | None:
    """The newest checkpoint of `directory` whose files can be read.

    A checkpoint cut short by a crash, a full disk or a bad copy is reported once and the one before it taken.

    Raises:
        CheckpointUnreadable: there are checkpoints, and none of them can be read.
    """
    refused: list[CheckpointUnreadable] = []
    for prefix in newest_first(directory):
        try:
            check_readable(prefix)
        except CheckpointUnreadable as error:
            refused.append(error)
            continue
        for reason in refused:
            logger.warning("%s Using the previous checkpoint %s.", reason, prefix)
        return prefix
    if refused:
        raise CheckpointUnreadable(
            f"None of the {len(refused)} checkpoint(s) in {directory} can be read; refusing to start over in a "
            "directory that holds trained weights. Restore them from a backup, or move the directory away. "
            + " ".join(str(error) for error in refused)
        )
    return None


def newest_first(directory: str) -> Iterator[str]:
    """All checkpoint prefixes that the state file of `directory` names, newest first."""
    state = tf.train.get_checkpoint_state(directory)
    if state is None:
        return
    recent = [state.model_checkpoint_path, *reversed(state.all_model_checkpoint_paths)]
    seen = set()
    for path in recent:
        prefix = os.fspath(path)
        if prefix and prefix not in seen:
            seen.add(prefix)
            yield prefix


def check_readable(prefix: str) -> None:
    """Checks that index and data files of a checkpoint are there and whole, without reading the values.

    Raises:
        CheckpointUnreadable: a file is missing, cut short, or its index is damaged.
    """
    reader = open_checkpoint(prefix)
    expected = _stored_bytes(reader)
    files = tf.io.gfile.glob(prefix + ".data-*")
    if not files:
        raise CheckpointUnreadable(f"Checkpoint {prefix} has no data file ({prefix}.data-…).")
    found = sum(tf.io.gfile.stat(file).length for file in files)
    if found < expected:
        raise CheckpointUnreadable(
            f"Checkpoint {prefix} is cut short: its data files hold {found} bytes, its index promises at least "
            f"{expected}."
        )


def step_of(prefix: str) -> int | None:
    """The global step in a checkpoint's name, `…/model.ckpt-120` gives 120."""
    match = _NUMBERED.search(prefix)
    return int(match.group(1)) if match else None


def neighbours_with_checkpoints(directory: str, most: int = 5) -> list[str]:
    """Directories beside (or right inside) `directory` that have checkpoints: likely what a mistyped path meant."""
    parent = os.path.dirname(os.path.abspath(directory.rstrip("/")))
    candidates = [*_subdirectories(parent), *_subdirectories(directory)]
    own = os.path.abspath(directory)
    found = [path for path in candidates if os.path.abspath(path) != own and tf.train.latest_checkpoint(path)]
    return found[:most]


def _subdirectories(directory: str) -> list[str]:
    try:
        names = tf.io.gfile.listdir(directory)
    except tf.errors.OpError:
        return []
    paths = [os.path.join(directory, name.rstrip("/")) for name in sorted(names)]
    return [path for path in paths if tf.io.gfile.isdir(path)][:200]


def _stored_bytes(reader: Any) -> int:
    """How many bytes the values of fixed size in a checkpoint take; strings vary and are not counted."""
    dtypes = reader.get_variable_to_dtype_map()
    total = 0
    for name, shape in reader.get_variable_to_shape_map().items():
        dtype = dtypes[name]
        if dtype not in (tf.string, tf.variant, tf.resource):
            count = 1
            for dimension in shape:
                count *= dimension
            total += count * dtype.size
    return total
