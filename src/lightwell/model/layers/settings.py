"""Checks of the sizes, paddings and layouts that layers take, each with an error that names the argument.

Owns no state. Takes what a user wrote, gives the normal form: whole numbers, tuples of them, lower-case words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongType


def whole_number(value: Any, argument: str, layer_kind: str, *, smallest: int) -> int:
    """Turns `value` into an `int` of at least `smallest`."""
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        kind = UsageError if isinstance(value, str) else WrongType
        raise kind(
            f"{layer_kind}: {argument} must be a whole number, got {value!r} of type {type(value).__name__}. "
            f"Pass a Python int: {argument}=32."
        ) from error
    if number < smallest:
        raise UsageError(f"{layer_kind}: {argument} must be at least {smallest}, got {value!r}. Pass a larger number.")
    return number


def whole_numbers(value: Any, count: int, argument: str, layer_kind: str) -> tuple[int, ...]:
    """Turns one number or `count` of them into a tuple of `count` numbers, each at least 1."""
    is_many = isinstance(value, Iterable) and not isinstance(value, str) and not tf.is_tensor(value)
    many = list(value) if is_many else [value] * count
    if len(many) != count:
        raise UsageError(
            f"{layer_kind}: {argument} must be one number or {count} of them, got {value!r}. "
            f"Write {argument}={tuple([2] * count) if count > 1 else 2}."
        )
    return tuple(whole_number(number, argument, layer_kind, smallest=1) for number in many)


def one_of(value: Any, allowed: tuple[str, ...], argument: str, layer_kind: str) -> str:
    """Turns `value` into one of the lower-case words `allowed`."""
    word = value.lower() if isinstance(value, str) else value
    if word not in allowed:
        raise UsageError(
            f"{layer_kind}: {argument} must be one of {', '.join(map(repr, allowed))}; got {value!r}. "
            f"Write {argument}={allowed[0]!r}."
        )
    return str(word)


def layout(data_format: Any, layer_kind: str) -> str:
    """Checks `data_format`: where the channels are."""
    hints = {"NHWC": "channels_last", "NDHWC": "channels_last", "NWC": "channels_last",
             "NCHW": "channels_first", "NCDHW": "channels_first", "NCW": "channels_first"}  # fmt: skip
    if isinstance(data_format, str) and data_format in hints:
        raise UsageError(
            f"{layer_kind}: data_format must be 'channels_last' or 'channels_first'; got {data_format!r}. "
            f"Write data_format={hints[data_format]!r}, which is the same layout."
        )
    return one_of(data_format, ("channels_last", "channels_first"), "data_format", layer_kind)


def tensorflow_layout(data_format: str, spatial_dimensions: int) -> str:
    """The layout in TensorFlow's letters: `NHWC`, `NCDHW`, …"""
    spatial = {1: "W", 2: "HW", 3: "DHW"}[spatial_dimensions]
    return f"N{spatial}C" if data_format == "channels_last" else f"NC{spatial}"


def channel_axis(data_format: str) -> int:
    """The axis of the channels: last, or first after the batch."""
    return -1 if data_format == "channels_last" else 1


def output_length(length: int | None, window: int, padding: str, stride: int, dilation: int = 1) -> int | None:
    """The number of places a window of `window` taps fits along an axis of `length`."""
    if length is None:
        return None
    reach = (window - 1) * dilation + 1
    places = length if padding in ("same", "causal") else length - reach + 1
    return (places + stride - 1) // stride


def static_truth(value: Any, argument: str, layer_name: str) -> bool | None:
    """The truth of `training` and its like if it is known while the graph is built, `None` if a run decides it.

    Raises:
        WrongType: `value` is neither a bool, 0, 1, `None` (taken as false) nor a tensor.
    """
    if value is None:
        return False
    if tf.is_tensor(value) or isinstance(value, tf.Variable):
        known = tf.get_static_value(value) if tf.is_tensor(value) else None
        return None if known is None else bool(known)
    if isinstance(value, bool | int) or hasattr(value, "__array__"):
        return bool(value)
    raise WrongType(
        f"layer '{layer_name}': {argument} must be True, False or a scalar tensor, got {value!r} of type "
        f"{type(value).__name__}. In a model_fn write {argument}=(mode == tf.estimator.ModeKeys.TRAIN)."
    )
