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
from lightwell.export.folders import holds_only_an_export
from lightwell.export.reading import is_saved_model
from lightwell.log import logger
from lightwell.own_files import TOKEN, folders_like, is_folder, remove_tree, token

_VERSION = re.compile(r"[0-9]{10}")
# An old export on its way out: no server takes a folder of this name for a version.
_DELETED = "deleted-"
_LEFT = re.compile(rf"{_DELETED}{_VERSION.pattern}(?P<token>-{TOKEN})?")


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
        positive = "a positive number" if where == "BestExporter" else "positive number"  # as each of them always said
        raise UsageError(
            f"{where}: `exports_to_keep`, if provided, must be {positive}. Got {given}. Pass None to keep all exports."
        )


def exports_in(export_path: Any) -> list[str]:
    """The names of the exports in a folder, oldest first."""
    names = _listed(export_path)
    return sorted(name for name in names if _VERSION.fullmatch(name) and is_saved_model(_joined(export_path, name)))


def delete_all_but_newest(export_path: Any, count: int | None) -> None:
    """Deletes the exports of a folder that are older than the newest `count`; None keeps all.

    A link to an export is not one of ours: it does not count and stays, with what it points to. One that cannot be
    deleted is reported: what an exporter is for is the new export.
    """
    if count is None:
        return
    for left in _left(export_path):  # of a process that was killed right here
        _delete(left)
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


def _left(export_path: Any) -> list[str]:
    if not _listed(export_path):
        return []
    found = [(path, _LEFT.fullmatch(os.path.basename(path))) for path in folders_like(_text(export_path), _LEFT)]
    return [path for path, match in found if match and (match["token"] or holds_only_an_export(path))]


def _listed(directory: Any) -> list[str]:
    try:
        return [name.rstrip("/") for name in tf.io.gfile.listdir(_text(directory))]
    except tf.errors.NotFoundError:
        return []


def _joined(directory: Any, name: str) -> str:
    return os.path.join(_text(directory), name)


def _text(path: Any) -> str:
    return os.fsdecode(path)
