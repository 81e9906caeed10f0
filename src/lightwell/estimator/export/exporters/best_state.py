"""The best evaluation so far, stored next to the exports: `<export_path>.best.json`.

The file is written before an export, with the existing exports, and after it. A process that finds an unfinished entry
can thus see from the folder whether the export was completed. Writes are atomic.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base import checked_json as checked
from lightwell.base.log import logger
from lightwell.base.safe_files import replace_file
from lightwell.errors import disk_error, reason_of
from lightwell.estimator.export.exporters.versions import exports_in

_FORMAT = 1


@dataclass(frozen=True)
class BestState:
    """The content of the file.

    Attributes:
        best: the result of the evaluation whose model was exported last; None before the first.
        begun: the result whose model is being exported, if one is.
        there: the exports that existed when it began.
    """

    best: Mapping[str, Any] | None = None
    begun: Mapping[str, Any] | None = None
    there: tuple[str, ...] = ()

    def settled(self, export_path: Any) -> BestState:
        """The state after an interrupted export: it was either completed or not."""
        is_complete = self.begun is not None and bool(set(exports_in(export_path)) - set(self.there))
        return BestState(self.begun if is_complete else self.best)

    def beginning(self, result: Mapping[str, Any], export_path: Any) -> BestState:
        """The state with an export that begins."""
        return replace(self, begun=result, there=tuple(exports_in(export_path)))


def state_file(export_path: Any) -> str:
    """The path of the file: outside the folder of exports, which programs list."""
    return os.fsdecode(export_path).rstrip("/") + ".best.json"


def read_state(export_path: Any) -> BestState | None:
    """The stored state; None if it cannot be read."""
    path = state_file(export_path)
    if not tf.io.gfile.exists(path):
        return None
    try:
        with tf.io.gfile.GFile(path, "r") as file:
            data = checked.parse(file.read())
        version = checked.field(data, "format", checked.number)
        if version > _FORMAT:
            raise ValueError(f"it was written by a newer version of Lightwell (format {version})")
        return BestState(
            checked.field(data, "best", checked.or_none(checked.by_name(_value))),
            checked.field(data, "begun", checked.or_none(checked.by_name(_value))),
            checked.field(data, "there", checked.all_of(checked.file_name)),
        )
    except (tf.errors.OpError, ValueError) as error:
        logger.warning(
            "The best value so far, %s, cannot be read: %s. Going by the event files.", path, reason_of(error)
        )
        return None


def write_state(state: BestState, export_path: Any) -> None:
    """Writes the state.

    Raises:
        ModelDirError: it cannot be written.
    """
    path = state_file(export_path)
    data = {"format": _FORMAT, "best": _plain(state.best), "begun": _plain(state.begun), "there": state.there}
    try:
        replace_file(path, json.dumps(data, indent=1))
    except (tf.errors.OpError, OSError) as error:
        raise disk_error(
            error,
            f"BestExporter: the best value so far cannot be written to {path}: {reason_of(error)}. Free space or mend "
            "the rights of the directory; without it, a restart could not tell a better model from a worse one.",
        ) from error


def _plain(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A result as JSON, each number with its type. Other values, such as images, are omitted."""
    if result is None:
        return None
    arrays = {str(name): np.asarray(value) for name, value in result.items()}
    return {
        name: {"dtype": array.dtype.name, "value": array.tolist()}
        for name, array in arrays.items()
        if array.dtype.kind in "biufU"
    }


def _value(data: Any) -> Any:
    dtype = checked.field(data, "dtype", checked.text)
    if dtype.startswith("str"):
        return checked.field(data, "value", lambda value: value)
    try:
        return np.asarray(checked.field(data, "value", lambda value: value), dtype)[()]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"no value of type {dtype!a:.50}") from error
