"""The description of a model in its `model_dir`: written once its training has begun, read without the model's code.

A description is a convenience. One that cannot be read is reported, and the checkpoint tells what it can; a training
that is refused, because the checkpoint is of another model, leaves the description of that model alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf

from lightwell.checkpoints.files import replace_file
from lightwell.engine.program import Program
from lightwell.errors import reason_of
from lightwell.hooks.base import NEVER, ScheduledHook
from lightwell.log import logger
from lightwell.sight.describe import FORMAT, Description, LayerInfo, ValueInfo, WeightInfo, describe

FILE_NAME = "description.json"
_T = TypeVar("_T")


class KeepDescription(ScheduledHook):
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
    """Keeps a description in a directory, in place of the one there; a full disk is reported, and leaves that one."""
    path = os.path.join(directory, FILE_NAME)
    try:
        replace_file(path, json.dumps(description.to_dict(), indent=1))
    except (tf.errors.OpError, OSError) as error:
        logger.warning("The description of the model cannot be written to %s: %s.", path, reason_of(error))


def read_description(directory: str) -> Description | None:
    """The description kept in a directory; None if there is none, or none that can be read."""
    path = os.path.join(directory, FILE_NAME)
    if not tf.io.gfile.exists(path):
        return None
    try:
        with tf.io.gfile.GFile(path, "rb") as file:
            return _description(json.loads(file.read()))
    except _Newer as newer:
        problem = str(newer)
    except (tf.errors.OpError, ValueError, RecursionError) as error:
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
    form = _field(data, "format", _number)
    if form > FORMAT:
        raise _Newer(f"was written by a newer version of Lightwell (format {form}, known up to {FORMAT})")
    return Description(
        layers=_field(data, "layers", _all(_layer)),
        weights=_field(data, "weights", _all(_weight)),
        slots=_field(data, "slots", _all(_text)),
        features=_field(data, "features", _all(_value)),
        labels=_field(data, "labels", _all(_value)),
        predictions=_field(data, "predictions", _all(_value)),
        mode=_field(data, "mode", _text),
    )


def _layer(data: Any) -> LayerInfo:
    return LayerInfo(
        _field(data, "name", _text),
        _field(data, "kind", _text),
        _field(data, "outputs", _all(_value)),
        _field(data, "inputs", _all(_value)),
        _field(data, "weights", _all(_weight)),
        _field(data, "calls", _number),
    )


def _weight(data: Any) -> WeightInfo:
    return WeightInfo(
        _field(data, "name", _text),
        _field(data, "attribute", _text),
        _field(data, "shape", _all(_number)),
        _field(data, "dtype", _dtype),
        _field(data, "trainable", _truth),
    )


def _value(data: Any) -> ValueInfo:
    return ValueInfo(
        _field(data, "path", _text),
        _field(data, "shape", _or_none(_all(_or_none(_number)))),
        _field(data, "dtype", _dtype),
        _field(data, "form", _text) if isinstance(data, dict) and "form" in data else "dense",
    )


def _field(data: Any, name: str, read: Callable[[Any], _T]) -> _T:
    if not isinstance(data, dict):
        raise ValueError(f"expected an object with {name!r}, got {type(data).__name__}")
    if name not in data:
        raise ValueError(f"{name!r} is missing")
    try:
        return read(data[name])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _all(read: Callable[[Any], _T]) -> Callable[[Any], tuple[_T, ...]]:
    def read_all(data: Any) -> tuple[_T, ...]:
        if not isinstance(data, list):
            raise ValueError(f"expected a list, got {type(data).__name__}")
        return tuple(map(read, data))

    return read_all


def _or_none(read: Callable[[Any], _T]) -> Callable[[Any], _T | None]:
    return lambda data: None if data is None else read(data)


def _text(data: Any) -> str:
    if not isinstance(data, str):
        raise ValueError(f"expected text, got {type(data).__name__}")
    return data


def _number(data: Any) -> int:
    if not isinstance(data, int) or isinstance(data, bool) or data < 0:
        raise ValueError(f"expected a number, got {data!r:.50}")
    return data


def _truth(data: Any) -> bool:
    if not isinstance(data, bool):
        raise ValueError(f"expected true or false, got {data!r:.50}")
    return data


def _dtype(data: Any) -> str:
    try:
        return str(tf.dtypes.as_dtype(_text(data)).name)
    except TypeError:
        raise ValueError(f"{data!r:.50} is no type of TensorFlow's") from None
