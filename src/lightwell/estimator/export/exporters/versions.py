"""The exports in a folder: which there are, and deleting the old ones.

An export is a folder that has a SavedModel and is named by ten digits, its time in seconds. Other folders (an
unfinished export, a user's numbered folder) are never touched.
"""

from __future__ import annotations

import operator
import os
import re
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.base.safe_files import TOKEN, is_folder, matching_folders, remove_tree, token
from lightwell.errors import UsageError, WrongType, reason_of
from lightwell.estimator.export.folders import holds_only_an_export
from lightwell.estimator.export.reading import is_saved_model

_VERSION = re.compile(r"[0-9]{10}")
# An export that is being deleted: no server loads a folder of this name.
_DELETED = "deleted-"
_HALF_DELETED = re.compile(rf"{_DELETED}{_VERSION.pattern}(?P<token>-{TOKEN})?")


def check_exports_to_keep(where: str, count: Any) -> None:
    """Checks the argument `exports_to_keep`.

    Raises:
        UsageError: it is not positive.
        WrongType: it is no whole number.
    """
    if count is None:
        return
    try:
        number = operator.index(count)
    except TypeError:
        raise WrongType(
            f"{where}: `exports_to_keep` must be a whole number or None, got {type(count).__name__} {count!r}."
        ) from None
    if number <= 0:
        positive = "a positive number" if where == "BestExporter" else "positive number"  # the texts of tf.estimator
        raise UsageError(
            f"{where}: `exports_to_keep`, if provided, must be {positive}. Got {count}. Pass None to keep all exports."
        )


def exports_in(export_path: Any) -> list[str]:
    """The names of the exports in a folder, oldest first."""
    names = _listed(export_path)
    return sorted(name for name in names if _VERSION.fullmatch(name) and is_saved_model(_joined(export_path, name)))


def delete_all_but_newest(export_path: Any, count: int | None) -> None:
    """Deletes the exports of a folder that are older than the newest `count`; None keeps all.

    A link to an export does not count and is not touched. An export that cannot be deleted is logged.
    """
    if count is None:
        return
    for folder in _half_deleted(export_path):  # of a process that was killed while it deleted
        _delete(folder)
    own = [name for name in exports_in(export_path) if is_folder(_joined(export_path, name))]
    for name in own[:-count]:
        old = _joined(export_path, name)
        renamed = _joined(export_path, f"{_DELETED}{name}-{token()}")
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
        remove_tree(directory)
    except (tf.errors.OpError, OSError) as error:
        logger.warning("%s, an old export, cannot be deleted: %s.", directory, reason_of(error))


def _half_deleted(export_path: Any) -> list[str]:
    if not _listed(export_path):
        return []
    matches = [
        (path, _HALF_DELETED.fullmatch(os.path.basename(path)))
        for path in matching_folders(_text(export_path), _HALF_DELETED)
    ]
    return [path for path, match in matches if match and (match["token"] or holds_only_an_export(path))]


def _listed(directory: Any) -> list[str]:
    try:
        return [name.rstrip("/") for name in tf.io.gfile.listdir(_text(directory))]
    except tf.errors.NotFoundError:
        return []


def _joined(directory: Any, name: str) -> str:
    return os.path.join(_text(directory), name)


def _text(path: Any) -> str:
    return os.fsdecode(path)
