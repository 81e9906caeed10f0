"""Choosing a part of a value: `unit=`, `channel=` and `where=` become a mask.

A *channel* is an index of the last dimension (`channel=3` of a convolution is one filter, everywhere in the image). A
*unit* is one number of an example's value: an index, or a tuple of indices where the value has several dimensions.
Takes an edit and the shape of a value; gives a boolean tensor that can be broadcast to the value, or None for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError, WrongType
from lightwell.inside.edits.base import At, Edit
from lightwell.inside.edits.functions import of_tensors
from lightwell.inside.paths.show import shape_text


@dataclass(frozen=True, eq=False, repr=False)
class MaskedEdit(Edit):
    """An edit of a part of a value.

    Attributes:
        unit: one number of each example's value, or several: an index, a tuple of indices, or a list of those.
        channel: an index of the last dimension, or several.
        where: a boolean array that can be broadcast to an example's value, or a function of the tensor that gives a
            boolean one.
    """

    unit: Any = None
    channel: Any = None
    where: Any = None

    def __post_init__(self) -> None:
        names = [name for name in ("unit", "channel", "where") if getattr(self, name) is not None]
        if len(names) > 1:
            raise UsageError(f"{self!r}: {' and '.join(names)} say the same thing in two ways. Give one of them.")

    def _form_of(self, name: str) -> Any:
        """How many units there are, and which, does not matter: they become one mask."""
        return getattr(self, name) is not None if name in ("unit", "channel") else super()._form_of(name)


def mask_of(edit: MaskedEdit, at: At) -> Any:
    """The mask of what an edit chose, a boolean tensor; None where it chose no part."""
    if edit.unit is None and edit.channel is None and edit.where is None:
        return None
    value = at.passing.value
    if not isinstance(value, tf.Tensor):
        raise at.error(
            f"is a {type(value).__name__}, which has no units or channels to choose. Leave unit=, channel= and where= "
            "out, or use lw.apply."
        )
    if callable(edit.where):
        return _by_function(edit.where, value, at)
    shape = at.shape
    return at.numbers.hold("mask", lambda one: _mask(one, shape, at), tf.bool)


def part(mask: Any, new: Any, value: Any) -> Any:
    """`new` where the mask says so, else `value`."""
    return new if mask is None else tf.where(mask, new, value)


def _by_function(function: Any, value: Any, at: At) -> Any:
    mask = tf.convert_to_tensor(of_tensors(function, value, at))
    if mask.dtype != tf.bool:
        raise at.error(
            f"is asked by where=, which must give a boolean tensor and gave {mask.dtype.name}. Compare: "
            "where=lambda x: x < 0."
        )
    return mask


def _mask(edit: Any, shape: tuple[int | None, ...] | None, at: At) -> Any:
    if edit.where is not None:
        return _where_mask(np.asarray(edit.where), shape, at)
    if edit.channel is not None:
        return _channel_mask(edit.channel, shape, at)
    return _unit_mask(edit.unit, shape, at)


def _where_mask(array: Any, shape: tuple[int | None, ...] | None, at: At) -> Any:
    if array.dtype != np.bool_:
        raise at.error(f"where= must be a boolean array or a function, got an array of {array.dtype.name}.")
    sizes = () if shape is None else shape
    fits = shape is None or (
        array.ndim <= len(sizes)
        and all(mine in (1, size) or size is None for mine, size in zip(array.shape[::-1], sizes[::-1], strict=False))
    )
    if not fits:
        raise at.error(
            f"has {_of_each(at)} of shape {shape_text(sizes)}; where= has shape {shape_text(array.shape)}, which "
            "cannot be broadcast to it."
        )
    return array


def _channel_mask(channels: Any, shape: tuple[int | None, ...] | None, at: At) -> Any:
    if not shape or shape[-1] is None:
        raise at.error(f"has no channels that can be counted: it is {at.value_text()}. Use where=, or lw.apply.")
    mask = np.zeros(shape[-1], np.bool_)
    for one in _indices(channels, at, "channel"):
        mask[_in_range(one, shape[-1], at, "channel")] = True
    return mask


def _unit_mask(units: Any, shape: tuple[int | None, ...] | None, at: At) -> Any:
    if not shape or None in shape:
        raise at.error(f"has no units that can be counted: it is {at.value_text()}. Use channel= or where=.")
    sizes = [int(size or 0) for size in shape]
    mask = np.zeros(sizes, np.bool_)
    for one in [units] if isinstance(units, tuple) else _indices(units, at, "unit"):
        index = one if isinstance(one, tuple) else (one,)
        if len(index) != len(sizes):
            named = "one index, unit=0" if len(sizes) == 1 else f"{len(sizes)} indices, unit={(0,) * len(sizes)}"
            raise at.error(
                f"has {_of_each(at)} of shape {shape_text(sizes)}, so a unit is named by {named}; got {one!r}. A whole "
                "channel is chosen by channel=."
            )
        places = zip(index, sizes, strict=True)
        mask[tuple(_in_range(int(place), size, at, "unit") for place, size in places)] = True
    return mask


def _indices(indices: Any, at: At, word: str) -> list[Any]:
    listed = [indices] if np.ndim(indices) == 0 else list(indices)
    for one in listed:
        if not isinstance(one, tuple) and (isinstance(one, bool | np.bool_) or not isinstance(one, int | np.integer)):
            raise WrongType(f"{at.where}: {word}= takes whole numbers, got {one!r}. A boolean array belongs in where=.")
    return listed


def _in_range(index: int, size: int, at: At, word: str) -> int:
    if not -size <= index < size:
        raise at.error(f"has {size} {word}s, 0 to {size - 1}: there is no {word} {index}.")
    return int(index)


def _of_each(at: At) -> str:
    return "an example's value" if at.by_example else "a value"
