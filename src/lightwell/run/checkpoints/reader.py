"""Reads names, shapes and values of a checkpoint. Takes a checkpoint prefix, returns NumPy values."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import CheckpointUnreadable, UsageError, reason_of

# An IndexError where data end too early, a MemoryError where a damaged index has an absurd size.
_OF_DAMAGE = (tf.errors.OpError, ValueError, RuntimeError, IndexError, MemoryError)


class UnknownVariable(UsageError, tf.errors.NotFoundError):
    """A checkpoint has no variable of this name; also what TensorFlow raises for that."""

    def __init__(self, message: str) -> None:
        tf.errors.NotFoundError.__init__(self, None, None, message)


def open_checkpoint(prefix: str) -> Any:
    """Opens a checkpoint for reading.

    Raises:
        CheckpointUnreadable: its index is missing or damaged.
    """
    try:
        return tf.train.load_checkpoint(prefix)
    except _OF_DAMAGE as error:
        raise CheckpointUnreadable(f"Checkpoint {prefix} cannot be read: {reason_of(error)}.") from error


def variable_names(prefix: str) -> list[str]:
    """The names of all variables in a checkpoint, sorted."""
    return sorted(open_checkpoint(prefix).get_variable_to_shape_map())


def variable_value(prefix: str, name: str) -> np.ndarray[Any, Any]:
    """The value of one variable, by its name or that of its tensor (`dense/kernel:0`).

    Raises:
        UnknownVariable: the checkpoint has no such variable; the text names those it has that come near.
        CheckpointUnreadable: the data are damaged.
    """
    reader = open_checkpoint(prefix)
    known = reader.get_variable_to_shape_map()
    name = name.removesuffix(":0")
    if name not in known:
        raise UnknownVariable(
            f"Key {name} not found in checkpoint: {prefix} has no variable {name!r}. {nearest_names(name, known)}"
        )
    try:
        return reader.get_tensor(name)
    except _OF_DAMAGE as error:
        reason = reason_of(error)
        raise CheckpointUnreadable(f"Checkpoint {prefix}: the value of {name!r} is damaged ({reason}).") from error


def nearest_names(name: str, known: Any) -> str:
    """A sentence with the names that come nearest to `name`."""
    import difflib

    names = sorted(known)
    by_case = [candidate for candidate in names if candidate.lower() == name.lower()]
    ends = [candidate for candidate in names if candidate.endswith("/" + name)]
    close = difflib.get_close_matches(name, names, n=5, cutoff=0.5)
    nearest = list(dict.fromkeys([*by_case, *ends, *close]))[:5]
    if nearest:
        return f"The nearest names are {nearest}."
    return f"It has {names[:20]}{' …' if len(names) > 20 else ''}."
