"""The exports in a folder: which there are, and deleting the old ones.

An export is a folder named by ten digits, the second in which it was made, that holds a SavedModel. Whatever else
stands beside it (a half export of a process that died, notes, a user's numbered folder) is none and is never touched.
"""

from __future__ import annotations

import operator
import os
import re
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType, reason_of
from lightwell.export.reading import is_saved_model
from lightwell.log import logger

_VERSION = re.compile(r"[0-9]{10}")
# An old export on its way out: no server takes a folder of this name for a version.
_DELETED = "deleted-"


def check_exports_to_keep(where: str, given: Any) -> None:
    """Checks the argument `exports_to_keep`.

    Raises:
        UsageError: it is not positive.
        WrongType: it is no whole number.
    """
    if given is None:
        return
    try:
        number = operator.index(given)
    except TypeError:
        raise WrongType(
            f"{where}: `exports_to_keep` must be a whole number or None, got {type(given).__name__} {given!r}."
        ) from None
    if number <= 0:
        raise UsageError(
            f"{where}: `exports_to_keep`, if provided, must be a positive number. Got {given}. Pass None to keep all "
            "exports."
        )


def exports_in(export_path: Any) -> list[str]:
    """The names of the exports in a folder, oldest first."""
    names = _listed(export_path)
    return sorted(name for name in names if _VERSION.fullmatch(name) and is_saved_model(_joined(export_path, name)))


def delete_all_but_newest(export_path: Any, count: int | None) -> None:
    """Deletes the exports of a folder that are older than the newest `count`; None keeps all.

    One that cannot be deleted is reported: what an exporter is for is the new export.
    """
    if count is None:
        return
    leftovers = [name for name in _listed(export_path) if _VERSION.fullmatch(name.removeprefix(_DELETED))]
    for name in (name for name in leftovers if name.startswith(_DELETED)):  # of a process that was killed right here
        _delete(_joined(export_path, name))
    for name in exports_in(export_path)[:-count]:
        old, renamed = _joined(export_path, name), _joined(export_path, _DELETED + name)
        try:
            tf.io.gfile.rename(old, renamed)
        except tf.errors.NotFoundError:  # another process has deleted it
            continue
        except (tf.errors.OpError, OSError) as error:
            logger.warning("The old export %s cannot be deleted: %s.", old, reason_of(error))
            continue
        _delete(renamed)


def _delete(directory: str) -> None:
    try:
        tf.io.gfile.rmtree(directory)
    except (tf.errors.OpError, OSError) as error:
        logger.warning("%s, an old export, cannot be deleted: %s.", directory, reason_of(error))


def _listed(directory: Any) -> list[str]:
    try:
        return [name.rstrip("/") for name in tf.io.gfile.listdir(_text(directory))]
    except tf.errors.NotFoundError:
        return []


def _joined(directory: Any, name: str) -> str:
    return os.path.join(_text(directory), name)


def _text(path: Any) -> str:
    return os.fsdecode(path)
