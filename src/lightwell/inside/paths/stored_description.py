"""The description of a model in its `model_dir`: written once its training has begun, read without the model's code.

A description is a convenience. One that cannot be read is reported, and the checkpoint tells what it can; a training
that is refused, because the checkpoint is of another model, leaves the description of that model alone.
"""

from __future__ import annotations

import json
import os
from typing import Any

import tensorflow as tf

from lightwell.base import checked_json as checked
from lightwell.base.log import logger
from lightwell.base.safe_files import replace_file
from lightwell.errors import reason_of
from lightwell.inside.paths.describe import FORMAT, Description, LayerInfo, ValueInfo, WeightInfo, describe
from lightwell.run.engine.program import Program
from lightwell.run.hooks.base import NEVER, ScheduledHook

FILE_NAME = "description.json"


class WriteDescription(ScheduledHook):
    """Writes the description of a program when a session is open for it: the checkpoint in `directory` fits it then.

    Args:
        program: a training program, as the model built it.
        directory: its `model_dir`.
    """

    def __init__(self, program: Program, directory: str) -> None:
        self._description = describe(program)
        self._directory = directory

    def next_look(self, global_step: int) -> int:
        """No step."""
        return NEVER

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Writes it."""
        write_description(self._description, self._directory)


def write_description(description: Description, directory: str) -> None:
    """Replaces the description in a directory; on a full disk the old one stays, with a warning."""
    path = os.path.join(directory, FILE_NAME)
    try:
        replace_file(path, json.dumps(description.to_dict(), indent=1))
    except (tf.errors.OpError, OSError) as error:
        logger.warning("The description of the model cannot be written to %s: %s.", path, reason_of(error))


def read_description(directory: str) -> Description | None:
    """The description in a directory; None if there is none that can be read."""
    path = os.path.join(directory, FILE_NAME)
    if not tf.io.gfile.exists(path):
        return None
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return _description(checked.parse(file.read()))
    except _Newer as newer:
        problem = str(newer)
    except (tf.errors.OpError, ValueError) as error:
        problem = f"is damaged ({reason_of(error)})"
    logger.warning(
        "The description of the model, %s, %s. Going by the names in the checkpoint alone; training writes it anew.",
        path,
        problem,
    )
    return None


class _Newer(Exception):
    """It was written in a form that is not known yet."""


def _description(data: Any) -> Description:
    """The reverse of `Description.to_dict`.

    Raises:
        ValueError: it is something else.
    """
    form = checked.field(data, "format", checked.number)
    if form > FORMAT:
        raise _Newer(f"was written by a newer version of Lightwell (format {form}, known up to {FORMAT})")
    return Description(
        layers=checked.field(data, "layers", checked.all_of(_layer)),
        weights=checked.field(data, "weights", checked.all_of(_weight)),
        slots=checked.field(data, "slots", checked.all_of(checked.text)),
        features=checked.field(data, "features", checked.all_of(_value)),
        labels=checked.field(data, "labels", checked.all_of(_value)),
        predictions=checked.field(data, "predictions", checked.all_of(_value)),
        mode=checked.field(data, "mode", checked.text),
    )


def _layer(data: Any) -> LayerInfo:
    return LayerInfo(
        checked.field(data, "name", checked.text),
        checked.field(data, "kind", checked.text),
        checked.field(data, "outputs", checked.all_of(_value)),
        checked.field(data, "inputs", checked.all_of(_value)),
        checked.field(data, "weights", checked.all_of(_weight)),
        checked.field(data, "calls", checked.number),
    )


def _weight(data: Any) -> WeightInfo:
    return WeightInfo(
        checked.field(data, "name", checked.text),
        checked.field(data, "attribute", checked.text),
        checked.field(data, "shape", checked.all_of(checked.number)),
        checked.field(data, "dtype", _dtype),
        checked.field(data, "trainable", checked.truth),
    )


def _value(data: Any) -> ValueInfo:
    return ValueInfo(
        checked.field(data, "path", checked.text),
        checked.field(data, "shape", checked.or_none(checked.all_of(checked.or_none(checked.number)))),
        checked.field(data, "dtype", _dtype),
        checked.optional(data, "form", checked.text, "dense"),
    )


def _dtype(data: Any) -> str:
    try:
        return str(tf.dtypes.as_dtype(checked.text(data)).name)
    except TypeError:
        raise ValueError(f"{data!r:.50} is no type of TensorFlow's") from None
