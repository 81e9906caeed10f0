"""Lists the checkpoints of a directory, and picks the newest usable one.

Takes directories and checkpoint prefixes, returns prefixes. Reads TensorFlow's `checkpoint` state file.
"""

from __future__ import annotations

import difflib
import itertools
import math
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from lightwell.base.keys import CHECKPOINT_PREFIX, CHECKPOINT_STATE
from lightwell.base.log import logger
from lightwell.errors import CheckpointUnreadable, reason_of
from lightwell.run.checkpoints.reader import open_checkpoint

_NUMBERED = re.compile(r"-(\d+)$")
_INDEX_FILE = re.compile(re.escape(CHECKPOINT_PREFIX) + r"(?:-edit(\d+))?-\d+\.index")
# How optimizers of TensorFlow 1 name the slots of a piece: `weights/part_0/Ftrl`, and `kernel/t_0/Adagrad` in a layer.
_OF_A_PIECE = re.compile(r"/(part|t)_\d+/")
# No name of a checkpoint has these; in a log they would control the terminal.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_STATE = CHECKPOINT_STATE
_MOST_LOOKS = 5


class CheckpointsGone(CheckpointUnreadable, ValueError):
    """A model_dir names checkpoints, and none of their files is there; also the class that TensorFlow raises then."""


class NoCheckpoint(CheckpointUnreadable, tf.errors.NotFoundError):
    """A path that a user named is no checkpoint; also what TensorFlow's readers raise for that."""

    def __init__(self, message: str) -> None:
        tf.errors.NotFoundError.__init__(self, None, None, message)

    def __str__(self) -> str:
        return str(self.message)


def latest_checkpoint(directory: str) -> str | None:
    """The newest checkpoint of `directory` that its state file names and whose files exist, complete or not."""
    return next(filter(exists, _candidates(directory, _named(directory))), None)


def newest_usable(directory: str) -> str | None:
    """The newest checkpoint of `directory` whose files can be read.

    A checkpoint cut short by a crash, a full disk or a bad copy is reported, and the one before it returned.

    Raises:
        CheckpointUnreadable: there are checkpoints, and none of them can be read; or the state file names some, and
            all of them are gone.
    """
    usable, refused, named = _search(directory)
    if usable is not None:
        _log_choice(usable, refused, named, directory)
    elif any(_files_of(prefix) for prefix in refused):
        raise CheckpointUnreadable(
            f"None of the {len(refused)} checkpoint(s) in {directory} can be read; refusing to start over in a "
            "directory that holds trained weights. Restore them from a backup, or move the directory away. "
            + " ".join(str(error) for error in refused.values())
        )
    elif refused:
        state = os.path.join(directory, _STATE)
        raise CheckpointsGone(
            f"The passed save_path is not a valid checkpoint: {next(iter(refused))}. The checkpoints that {state} "
            f"names are all gone. Restore them from a backup, or delete {state} to start over."
        )
    else:
        _warn_of_unnamed(directory)
    return usable


def newest_complete(directory: str) -> str | None:
    """The checkpoint from which a training in `directory` would resume, without log lines about the others."""
    return _search(directory)[0]


def exists(prefix: str) -> bool:
    """Whether there is a checkpoint of this name; in the old format, it is one file."""
    return bool(tf.io.gfile.exists(prefix + ".index") or tf.io.gfile.exists(prefix))


def is_in(prefix: str, directory: str) -> bool:
    """Whether a checkpoint belongs to a directory, however the two paths are spelt."""
    own, other = os.path.dirname(prefix) or ".", directory or "."
    are_same = own.rstrip("/") == other.rstrip("/")
    if are_same or "://" in own or "://" in other:
        return are_same
    return os.path.realpath(own) == os.path.realpath(other)


def _search(directory: str) -> tuple[str | None, dict[str, CheckpointUnreadable], list[str]]:
    """The first candidate that can be read, what is wrong with those before it, and what the state file names.

    A training in the directory may delete checkpoints during the search. There are newer ones then, so the state file
    is read again.
    """
    for look in range(_MOST_LOOKS):
        before, named = _state_text(directory), _named(directory)
        readable, refused = _first_readable(_candidates(directory, named))
        if not refused or look == _MOST_LOOKS - 1 or _state_text(directory) == before:
            break
    return readable, refused, named


def _first_readable(candidates: Iterable[str]) -> tuple[str | None, dict[str, CheckpointUnreadable]]:
    refused: dict[str, CheckpointUnreadable] = {}
    for prefix in candidates:
        try:
            check_readable(prefix)
        except CheckpointUnreadable as error:
            refused[prefix] = error
        else:
            return prefix, refused
    return None, refused


def _log_choice(usable: str, refused: dict[str, CheckpointUnreadable], names: list[str], directory: str) -> None:
    """Warns if the usable checkpoint is not the one that the state file names."""
    state_file = os.path.join(directory, _STATE)
    for prefix, reason in refused.items():
        which = "previous" if (step_of(usable) or 0) <= (step_of(prefix) or 0) else "newer"
        logger.warning("%s Using the %s checkpoint %s.", reason, which, usable)
    named = next((name for name in names if os.path.basename(name) == os.path.basename(usable)), usable)
    if named != usable and not is_in(named, directory):
        logger.warning("%s names %s, in another directory. Using %s, which is here.", state_file, named, usable)
    elif not is_in(usable, directory):
        logger.warning("%s names %s, in another directory, and it is taken from there.", state_file, usable)


def _warn_of_unnamed(directory: str) -> None:
    there = [os.path.basename(prefix) for prefix in _on_disk(directory)]
    if there:
        logger.warning(
            "%s has no state file %r that names a checkpoint, so it counts as untrained, although it holds %s. To go "
            "on from one of them: tf.compat.v1.train.update_checkpoint_state(model_dir, %r).",
            directory,
            _STATE,
            ", ".join(there[:5]),
            there[0],
        )


def checked_path(path: Any, argument: str = "checkpoint_path") -> str:
    """A checkpoint that a user named in `argument`, as a prefix.

    Raises:
        NoCheckpoint: there is none; the text says what is there instead.
    """
    prefix = os.fspath(path)
    if tf.io.gfile.exists(prefix + ".index"):
        return prefix
    directory = prefix if tf.io.gfile.isdir(prefix) else os.path.dirname(prefix)
    there = [os.path.basename(one) for one in _on_disk(directory)]
    whole = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", prefix)
    if tf.io.gfile.exists(whole + ".index"):
        problem = f"is one file of a checkpoint; name the checkpoint itself: {whole!r}"
    elif directory == prefix:
        problem = "is a directory; name one of its checkpoints"
    else:
        problem = "does not exist"
    raise NoCheckpoint(
        f"{argument} {prefix!r} {problem}. The passed save_path is not a valid checkpoint: {prefix}. Expected the "
        f"start of a checkpoint's file names, such as '…/model.ckpt-100'. {directory or 'The working directory'} has "
        f"{', '.join(there[:10]) if there else 'no checkpoints'}."
    )


def newest_first(directory: str) -> Iterator[str]:
    """All checkpoint prefixes that the state file of `directory` names, newest first.

    After a directory was moved or copied, its state file may name paths in the old place. Files in the directory itself
    come first: in the old place, another training may run.
    """
    return _in_place(_named(directory), directory)


def _in_place(names: Iterable[str], directory: str) -> Iterator[str]:
    seen = set()
    for named in names:
        prefix = named
        if not is_in(named, directory):
            here = os.path.join(directory, os.path.basename(named))
            prefix = here if exists(here) or not exists(named) else named
        if prefix not in seen:
            seen.add(prefix)
            yield prefix


def _named(directory: str) -> list[str]:
    """The paths in the state file, as it has them, newest first."""
    state = _state(directory)
    if state is None:
        return []
    paths = map(os.fspath, (state.model_checkpoint_path, *reversed(state.all_model_checkpoint_paths)))
    return [path for path in paths if path and not _CONTROL.search(path)]


def _candidates(directory: str, names: Iterable[str]) -> Iterator[str]:
    """Checkpoints to try, best first: those that the state file names, then others on disk that are older.

    One that is newer than those in the state file comes last: the user may have gone back on purpose. If all that the
    state file names are gone, the newest on disk comes first.
    """
    named = []
    for prefix in _in_place(names, directory):
        named.append(prefix)
        yield prefix
    if not named and tf.io.gfile.exists(os.path.join(directory, _STATE)):
        logger.warning("The state file %s is damaged; looking at the files beside it.", os.path.join(directory, _STATE))
        yield from _on_disk(directory)
    elif named:
        is_gone = not any(map(_files_of, named))
        newest = math.inf if is_gone else (step_of(named[0]) or 0)
        others = [prefix for prefix in _on_disk(directory) if prefix not in named]
        yield from sorted(others, key=lambda prefix: (step_of(prefix) or 0) >= newest)


def _on_disk(directory: str) -> Iterator[str]:
    """Checkpoints of which there are files in `directory`, newest first, whatever the state file says."""
    names = [name.removesuffix(".index") for name in _listed(directory) if _INDEX_FILE.fullmatch(name)]
    for name in sorted(names, key=_age, reverse=True):
        yield os.path.join(directory, name)


def _age(name: str) -> tuple[int, int]:
    """Orders checkpoints by their names: by step, and those of one step by their edits."""
    edit = _INDEX_FILE.fullmatch(f"{name}.index")
    return step_of(name) or 0, int(edit[1]) if edit and edit[1] else 0


def _files_of(prefix: str) -> list[str]:
    # Not a glob: the path itself may hold brackets or stars.
    directory, name = os.path.split(prefix)
    return [os.path.join(directory, file) for file in _listed(directory) if file.startswith(name + ".")]


def _listed(directory: str) -> list[str]:
    try:
        return [name.rstrip("/") for name in tf.io.gfile.listdir(directory or ".")]
    except tf.errors.OpError:
        return []


def _state_text(directory: str) -> str:
    try:
        with tf.io.gfile.GFile(os.path.join(directory, _STATE), "rb") as file:
            return repr(file.read())
    except tf.errors.OpError:
        return ""


def _state(directory: str) -> Any:
    try:
        return tf.train.get_checkpoint_state(directory)
    except ValueError:  # an empty state file
        return None


def check_readable(prefix: str) -> None:
    """Checks that index and data files of a checkpoint exist and are complete, without reading the values.

    Raises:
        CheckpointUnreadable: a file is missing, cut short, or its index is damaged.
    """
    reader = open_checkpoint(prefix)
    expected = _stored_bytes(reader)
    files = [file for file in _files_of(prefix) if file.startswith(prefix + ".data-")]
    if not files:
        raise CheckpointUnreadable(f"Checkpoint {prefix} has no data file ({prefix}.data-…).")
    try:
        size = sum(tf.io.gfile.stat(file).length for file in files)
    except tf.errors.NotFoundError as error:
        raise CheckpointUnreadable(f"Checkpoint {prefix} is being deleted: {reason_of(error)}.") from error
    if size < expected:
        raise CheckpointUnreadable(
            f"Checkpoint {prefix} is cut short: its data files hold {size} bytes, its index promises at least "
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
    # These are directories of others: TensorFlow would log errors about broken checkpoints.
    return any(map(exists, newest_first(directory)))


def _subdirectories(directory: str) -> list[str]:
    paths = [os.path.join(directory, name) for name in sorted(_listed(directory))]
    return [path for path in paths if tf.io.gfile.isdir(path)][:200]


def _stored_bytes(reader: Any) -> int:
    """How many bytes the values of fixed size in a checkpoint take at least.

    Strings vary and are not counted. Nor are the slots of a piece of a variable: such a slot is listed with the shape
    of the whole, of which only the piece is stored.
    """
    dtypes = reader.get_variable_to_dtype_map()
    total = 0
    for name, shape in reader.get_variable_to_shape_map().items():
        dtype = dtypes[name]
        if dtype not in (tf.string, tf.variant, tf.resource) and not _OF_A_PIECE.search(name):
            count = 1
            for dimension in shape:
                count *= dimension
            total += count * dtype.size
    return total
