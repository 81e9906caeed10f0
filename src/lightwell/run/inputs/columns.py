"""Validates one array of features or labels, and chooses its type as a tensor.

Takes an array or a column of a frame, returns a `Column`, or raises an error that says what is wrong with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import InputFnError, NotAnArray, WrongType
from lightwell.run.inputs.arrays import Array, typed


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one feature or label, a row each."""

    array: Array
    dtype: tf.DType


def column_of(value: Any, where: str) -> Column:
    """`value` as a column; `where` names it in errors.

    Raises:
        NotAnArray: it is a list, a number or the like.
        WrongType: it is a tensor, or no tensor can hold its values.
        InputFnError: it has no rows to take one by one.
    """
    if tf.is_tensor(value):
        raise WrongType(
            f"{where} is a tensor ({value!r}), expected an array: len is not well defined for a symbolic Tensor. Pass "
            "the array that it was made of, or tensor.numpy() of an eager one."
        )
    shape = shape_of(value, where)
    if not shape:
        raise InputFnError(
            f"{where} has no rows: it is a single value ({value!r}). Pass an array with a value for each row."
        )
    array = np.asarray(value)
    typed_array = typed(array)
    if typed_array is None:
        raise _has_no_type(array, value, where)
    return Column(*typed_array)


def shape_of(value: Any, where: str) -> tuple[int, ...]:
    """The shape of an array.

    Raises:
        NotAnArray: it has none.
    """
    try:
        return tuple(value.shape)
    except (AttributeError, TypeError) as error:
        kind = type(value).__name__
        advice = "np.asarray(...) of it" if isinstance(value, list | tuple) else "an array"
        raise NotAnArray(
            f"{where} must be an array with a value for each row; {kind!r} object has no attribute 'shape'. Pass "
            f"{advice}."
        ) from error


def _has_no_type(array: Array, value: Any, where: str) -> WrongType:
    if array.dtype != object:
        return WrongType(
            f"{where} cannot become a tensor: Cannot convert the argument {getattr(value, 'dtype', array.dtype)!r} to "
            "a TensorFlow DType. Convert it first, for example with .astype('int64') or .astype('float32')."
        )
    odd = next(place for place, one in enumerate(array.flat) if not isinstance(one, str | bytes))
    one = array.flat[odd]
    row = odd // max(1, array[0].size if array.ndim > 1 else 1)
    return WrongType(
        f"{where} is of Python objects, which become text; Unsupported object type {type(one).__name__}: row {row} "
        f"holds {one!r}. Fill what is missing (.fillna('') in pandas), make text of the rest (.astype(str)), or "
        "numbers of it all (.astype('float32'))."
    )
