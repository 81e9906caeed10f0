"""Settings of windows over images: sizes, strides and layouts, as `tf.contrib.layers` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightwell.errors import UsageError

_LAYOUTS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def sizes(value: Any, axes: int, name: str, function: str) -> list[int]:
    """One number per spatial axis: a number counts for all, and a list of one too.

    Raises:
        UsageError: there are more or fewer.
    """
    given = [value] if isinstance(value, int) or hasattr(value, "__index__") else list(value)
    if len(given) == 1:
        given = given * axes
    if len(given) != axes:
        raise UsageError(f"{function}: {name} must be one number or {axes} numbers, got {value!r}.")
    return [int(one) for one in given]


def layout(data_format: str | None, axes: int, function: str) -> str:
    """The layout, checked; channels last if None.

    Raises:
        UsageError: there is no such layout for that many spatial axes.
    """
    known = _LAYOUTS[axes]
    chosen = known[0] if data_format is None else data_format
    if chosen not in known:
        raise UsageError(f"{function}: data_format has to be either {' or '.join(known)}, got {data_format!r}.")
    return chosen


def channels(values: Any, data_format: str, function: str) -> int:
    """The number of channels of a tensor.

    Raises:
        UsageError: it is not known, or the tensor has another number of axes than the layout.
    """
    if values.shape.rank != len(data_format):
        raise UsageError(
            f"{function}: Convolution expects input with rank {len(data_format)}, got {values.shape.rank} "
            f"(shape {values.shape})."
        )
    size = values.shape[data_format.index("C")]
    if size is None:
        raise UsageError(
            f"{function}: the number of channels of the inputs must be known, got shape {values.shape}. Set it with "
            "tf.ensure_shape."
        )
    return int(size)


def bias_layout(data_format: str) -> str:
    """The layout in the words of `tf.nn.bias_add`."""
    return "NCHW" if data_format.startswith("NC") and len(data_format) > 3 and data_format[1] == "C" else "NHWC"


def spread(numbers: Sequence[int], data_format: str) -> list[int]:
    """Numbers of the spatial axes among all axes: 1 for the batch and the channels."""
    return [1, 1, *numbers] if data_format[1] == "C" else [1, *numbers, 1]
