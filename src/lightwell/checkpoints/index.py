"""Which checkpoints does a directory have, and which of them can be used?

Takes directories and checkpoint prefixes, gives prefixes. Reads the `checkpoint` state file that TensorFlow keeps.
"""

from __future__ import annotations

import difflib
import itertools
import os
import re
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from lightwell.checkpoints.reader import open_checkpoint
from lightwell.errors import CheckpointUnreadable
from lightwell.keys import CHECKPOINT_PREFIX, CHECKPOINT_STATE
from lightwell.log import logger

_NUMBERED = re.compile(r"-(\d+)$")
_INDEX_FILE = re.compile(re.escape(CHECKPOINT_PREFIX) + r"-\d+\.index")
_STATE = CHECKPOINT_STATE


def latest_checkpoint(directory: str) -> str | None:
    """The newest checkpoint that `directory`'s state file names and whose files exist, as TensorFlow tells it."""
    try:
        return tf.train.latest_checkpoint(directory)
    except ValueError:  # an empty state file
        return next(_on_disk(directory), None)


def newest_usable(directory: str) -> str | None:
    """The newest checkpoint of `directory` whose files can be read.

    A checkpoint cut short by a crash, a full disk or a bad copy is reported and the one before it taken.

    Raises:
        CheckpointUnreadable: there are checkpoints, and none of them can be read.
    """
    refused: dict[str, CheckpointUnreadable] = {}
    for prefix in _candidates(directory):
        try:
            check_readable(prefix)
        except CheckpointUnreadable as error:
            refused[prefix] = error
            continue
        for reason in refused.values():
            logger.warning("%s Using the previous checkpoint %s.", reason, prefix)
        return prefix
    if any(_files_of(prefix) for prefix in refused):
        raise CheckpointUnreadable(
            f"None of the {len(refused)} checkpoint(s) in {directory} can be read; refusing to start over in a "
            "directory that holds trained weights. Restore them from a backup, or move the directory away. "
            + " ".join(str(error) for error in refused.values())
        )
    if refused:
        logger.warning("The checkpoints that %s names are all gone; starting over.", os.path.join(directory, _STATE))
    return None


def checked_path(given: Any, argument: str = "checkpoint_path") -> str:
    """A checkpoint that a user named in `argument`, as a prefix.

    Raises:
        CheckpointUnreadable: there is none; the text says what is there instead.
    """
    prefix = os.fspath(given)
    if tf.io.gfile.exists(prefix + ".index"):
        return prefix
    directory = prefix if tf.io.gfile.isdir(prefix) else os.path.dirname(prefix)
    there = [os.path.basename(path) for path in _on_disk(directory)]
    whole = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", prefix)
    if tf.io.gfile.exists(whole + ".index"):
        problem = f"is one file of a checkpoint; name the checkpoint itself: {whole!r}"
    elif directory == prefix:
        problem = "is a directory; name one of its checkpoints"
    else:
        problem = "does not exist"
    raise CheckpointUnreadable(
        f"{argument} {prefix!r} {problem}. Expected the start of a checkpoint's file names, such as "
        f"'…/model.ckpt-100'. {directory or '.'} has {', '.join(there[:10]) if there else 'no checkpoints'}."
    )


def newest_first(directory: str) -> Iterator[str]:
    """All checkpoint prefixes that the state file of `directory` names, newest first."""
    state = _state(directory)
    if state is None:
        return
    recent = [state.model_checkpoint_path, *reversed(state.all_model_checkpoint_paths)]
    seen = set()
    for path in recent:
        prefix = os.fspath(path)
        if prefix and prefix not in seen:
            seen.add(prefix)
            yield prefix


def _candidates(directory: str) -> Iterator[str]:
    """Checkpoints to try, best first: those that the state file names, then others on disk that are older.

    One that is newer than what the state file names is not taken: somebody may have gone back on purpose.
    """
    named = list(newest_first(directory))
    yield from named
    if not named and tf.io.gfile.exists(os.path.join(directory, _STATE)):
        logger.warning("The state file %s is damaged; looking at the files beside it.", os.path.join(directory, _STATE))
        yield from _on_disk(directory)
    elif named:
        newest = step_of(named[0])
        for prefix in _on_disk(directory):
            step = step_of(prefix)
            if prefix not in named and step is not None and newest is not None and step < newest:
                yield prefix


def _on_disk(directory: str) -> Iterator[str]:
    """Checkpoints of which there are files in `directory`, newest first, whatever the state file says."""
    found = [name.removesuffix(".index") for name in _listed(directory) if _INDEX_FILE.fullmatch(name)]
    for name in sorted(found, key=lambda name: step_of(name) or 0, reverse=True):
        yield os.path.join(directory, name)


def _files_of(prefix: str) -> list[str]:
    # Not a glob: the path itself may hold brackets or stars.
    directory, name = os.path.split(prefix)
    return [os.path.join(directory, file) for file in _listed(directory) if file.startswith(name + ".")]


def _listed(directory: str) -> list[str]:
    try:
        return [name.rstrip("/") for name in tf.io.gfile.listdir(directory or ".")]
    except tf.errors.OpError:
        return []


def _state(directory: str) -> Any:
    try:
        return tf.train.get_checkpoint_state(directory)
    except ValueError:  # an empty state file
        return None


def check_readable(prefix: str) -> None:
    """Checks that index and data files of a checkpoint are there and whole, without reading the values.

    Raises:
        CheckpointUnreadable: a file is missing, cut short, or its index is damaged.
    """
    reader = open_checkpoint(prefix)
    expected = _stored_bytes(reader)
    files = [file for file in _files_of(prefix) if file.startswith(prefix + ".data-")]
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
    """Directories that have checkpoints and that a mistaken path may mean: those inside, then those beside it, the ones
    with the most similar names first."""
    own = _absolute(directory)
    parent, name = os.path.split(own)
    beside = sorted(_subdirectories(parent), key=lambda path: -_likeness(os.path.basename(path), name))
    candidates = [path for path in [*_subdirectories(own), *beside] if path != own]
    return list(itertools.islice(filter(_has_checkpoint, candidates), most))


def _absolute(directory: str) -> str:
    return directory.rstrip("/") if "://" in directory else os.path.abspath(directory)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _has_checkpoint(directory: str) -> bool:
    # Asked of directories that are none of our business: TensorFlow would complain aloud about broken ones.
    return any(tf.io.gfile.exists(prefix + ".index") for prefix in newest_first(directory))


def _subdirectories(directory: str) -> list[str]:
    paths = [os.path.join(directory, name) for name in sorted(_listed(directory))]
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
