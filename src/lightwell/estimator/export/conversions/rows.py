"""The rows that a converted model is checked on: an array for each input of a signature.

They come from the user's arrays or file; without either they are random, and the report says so.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.errors import UsageError, reason_of

MAX_ROWS = 256
_RANDOM_ROWS = 8
_SEED = 1


@dataclass(frozen=True, eq=False)
class SignatureRows:
    """Rows for a signature.

    Attributes:
        arrays: by input, batch first.
        origin: where they come from, for the report.
    """

    arrays: Mapping[str, Any]
    origin: str

    @property
    def count(self) -> int:
        """The number of rows."""
        return max((len(array) for array in self.arrays.values() if np.ndim(array)), default=0)


def rows_for(inputs: Mapping[str, Any], source: Any, origin: str = "") -> SignatureRows:
    """Rows for the inputs of a signature.

    Args:
        inputs: name to `TensorInfo`.
        source: arrays by name, one array if there is one input, or None for random rows. Arrays that no input takes,
            such as labels, are ignored; of many rows, the first are taken.
        origin: where they come from, for the report.

    Raises:
        UsageError: an input is missing or does not fit.
    """
    if source is None:
        return SignatureRows(
            {name: _random_rows(info) for name, info in sorted(inputs.items())},
            "made-up rows: pass rows to check on real ones",
        )
    by_name: Mapping[str, Any] = source if isinstance(source, Mapping) else {next(iter(inputs)): source}
    if not isinstance(source, Mapping) and len(inputs) != 1:
        raise UsageError(f"rows: the model takes {sorted(inputs)}; give an array for each, by name.")
    missing = sorted(set(inputs) - set(by_name))
    if missing:
        raise UsageError(
            f"rows: the model takes {sorted(inputs)}, and the rows have {sorted(by_name)}: {missing} is missing."
        )
    arrays = {name: _array(name, info, by_name[name]) for name, info in inputs.items()}
    return SignatureRows(arrays, origin or "rows given")


def read_rows(path: str) -> dict[str, Any] | Any:
    """Arrays from a file: `.npz` (an array for each name), `.npy`, `.csv` with a head, `.json` (a list of objects, or
    one object to a line).

    Raises:
        UsageError: it cannot be read.
    """
    ending = os.path.splitext(path)[1].lower()
    try:
        if ending == ".npz":
            with np.load(path) as stored:
                return {name: stored[name] for name in stored.files}
        if ending == ".npy":
            return np.load(path)
        if ending == ".csv":
            with open(path, newline="", encoding="utf-8") as file:
                return _columns(list(csv.DictReader(file)))
        if ending in (".json", ".jsonl"):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            return _columns(json.loads(text) if text.lstrip()[:1] == "[" else list(map(json.loads, text.splitlines())))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"rows: {path} cannot be read: {reason_of(error)}.") from error
    raise UsageError(f"rows: {path} has none of the endings .npz, .npy, .csv, .json, .jsonl, so it cannot be read.")


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _array(name: str, info: Any, values: Any) -> Any:
    dtype, shape = tf.as_dtype(info.dtype), tf.TensorShape(info.tensor_shape)
    try:
        array = np.asarray(values)
        array = array.astype(object) if dtype == tf.string else array.astype(dtype.as_numpy_dtype)
    except (ValueError, TypeError) as error:
        raise UsageError(f"rows: {name!r} must be {dtype.name}, which {np.asarray(values)[:1]!r} is not.") from error
    if shape.rank == array.ndim + 1 and shape[-1] == 1:  # a column of a table
        array = array[..., None]
    array = array[:MAX_ROWS] if array.ndim else array
    if not shape.is_compatible_with(array.shape):
        raise UsageError(f"rows: {name!r} must have shape {shape}, got {array.shape}.")
    return _bytes(array) if dtype == tf.string else array


def _bytes(array: Any) -> Any:
    encoded = [one if isinstance(one, bytes) else str(one).encode() for one in array.ravel().tolist()]
    result = np.empty(len(encoded), dtype=object)
    result[:] = encoded
    return result.reshape(array.shape)


def _random_rows(info: Any) -> Any:
    """Rows of an input's type: numbers around zero, small whole numbers, empty texts."""
    dtype, shape = tf.as_dtype(info.dtype), tf.TensorShape(info.tensor_shape)
    sizes = [] if shape.rank is None else [1 if size is None else size for size in shape.as_list()]
    if shape.rank and shape[0] is None:
        sizes[0] = _RANDOM_ROWS
    random = np.random.default_rng(_SEED)
    if dtype == tf.string:
        return np.full(sizes, b"", dtype=object)
    if dtype.is_floating:
        return random.standard_normal(sizes).astype(dtype.as_numpy_dtype)
    return random.integers(0, 2, sizes).astype(dtype.as_numpy_dtype)
