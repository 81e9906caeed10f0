"""Arrays, pandas tables and iterators as the `input_fn` that an Estimator takes.

Batches are those of TensorFlow 1.15: training shuffles the rows of each round with one generator of seed 42, and the
last batch of a round is short.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.compat.contrib.layers.column_parsing import infer_real_valued_columns
from lightwell.errors import UsageError
from lightwell.run.engine.side_session import open_side_session

_SEED = 42


@dataclass(frozen=True)
class Passes:
    """How often and in which order the rows are read.

    Attributes:
        shuffled: whether the rows are shuffled, each time anew.
        endless: whether they start again after their end.
    """

    shuffled: bool
    endless: bool


TRAINING = Passes(shuffled=True, endless=True)
IN_ORDER = Passes(shuffled=False, endless=False)


def input_fn_of(
    where: str, x: Any, y: Any, input_fn: Callable[..., Any] | None, batch_size: int | None, passes: Passes
) -> Callable[..., Any]:
    """The `input_fn` that was passed, or one that reads `x` and `y`.

    Args:
        where: the verb, for errors.
        x: an array, arrays by name, a pandas table, or an iterator over rows.
        y: the labels: an array, arrays by name, a column, or an iterator; None for predictions.
        input_fn: in their place.
        batch_size: rows of a batch; all if None.
        passes: the order of the rows.

    Raises:
        UsageError: both, or neither, are there.
    """
    if input_fn is not None:
        if x is not None or y is not None or batch_size is not None:
            raise UsageError(
                f"{where}: Can not provide both input_fn and x or y or batch_size: input_fn makes the batches itself."
            )
        return input_fn
    if x is None:
        raise UsageError(f"{where}: Either x or input_fn must be provided.")
    if any(tf.is_tensor(one) for one in [*tf.nest.flatten(x), *tf.nest.flatten(y)]):
        raise UsageError(f"{where}: Inputs cannot be tensors. Please provide input_fn, which returns them.")
    if hasattr(x, "__next__"):
        return _streamed(where, x, y, batch_size)
    features, labels = _arrays(x), None if y is None else _arrays(y)
    features = tf.nest.map_structure(lambda one: one[:, None] if one.ndim == 1 else one, features)
    if labels is not None:
        labels = tf.nest.map_structure(lambda one: one[:, 0] if one.shape[1:] == (1,) else one, labels)
    both = features if labels is None else (features, labels)
    rows = {len(one) for one in tf.nest.flatten(both)}
    if len(rows) != 1:
        raise UsageError(f"{where}: x and y must have as many rows, got {sorted(rows)}.")
    (count,) = rows
    if batch_size is not None and batch_size < 1:
        raise UsageError(f"{where}: batch_size must be at least 1, got {batch_size}.")
    size = batch_size or count

    def batches() -> Iterator[Any]:
        random = np.random.RandomState(_SEED)
        for _ in itertools.count() if passes.endless else range(1):
            order = random.permutation(count) if passes.shuffled else np.arange(count)
            for start in range(0, count, size):
                chosen = order[start : start + size]
                yield tf.nest.map_structure(lambda one, rows=chosen: one[rows], both)

    return _from(batches, tf.nest.map_structure(_spec, both))


def feature_columns_of(x: Any) -> list[Any]:
    """One real-valued column for each array."""
    return _inferred(input_fn_of("infer_real_valued_columns_from_input", x, None, None, None, IN_ORDER))


def feature_columns_of_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """One real-valued column for each feature that an `input_fn` returns."""
    return _inferred(input_fn)


def _inferred(input_fn: Callable[[], Any]) -> list[Any]:
    with open_side_session() as (session, _), session.graph.as_default():
        made = input_fn()
        if isinstance(made, tf.data.Dataset):
            made = tf.compat.v1.data.make_one_shot_iterator(made).get_next()
        features = made[0] if isinstance(made, tuple) else made
        columns: list[Any] = infer_real_valued_columns(features)
        return columns


def _arrays(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {str(name): _array(value) for name, value in values.items()}
    return _array(values)


def _array(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value.values if hasattr(value, "iloc") else value)
    if array.ndim == 0:
        raise UsageError(f"Expected an array with a row for each example, got the single value {array}.")
    return np.asarray(array.tolist(), np.str_).astype(np.bytes_) if array.dtype.kind == "O" else array


def _spec(array: np.ndarray[Any, Any]) -> Any:
    return tf.TensorSpec([None, *array.shape[1:]], tf.as_dtype(array.dtype))


def _from(batches: Callable[[], Iterator[Any]], signature: Any) -> Callable[[], Any]:
    def from_arrays() -> Any:
        return tf.data.Dataset.from_generator(batches, output_signature=signature)

    return from_arrays


def _streamed(where: str, x: Iterator[Any], y: Iterator[Any] | None, batch_size: int | None) -> Callable[[], Any]:
    """Rows as iterators give them; what they gave is gone, as ever with iterators."""
    if batch_size is None:
        raise UsageError(f"{where}: x is an iterator: pass batch_size, the number of rows of a batch.")
    rows: Iterator[Any] = iter(x) if y is None else zip(x, y, strict=False)
    first = next(rows, None)
    if first is None:
        raise UsageError(f"{where}: the iterator x has no rows.")

    def stacked(part: list[Any]) -> Any:
        return tf.nest.map_structure(lambda *values: np.stack([np.asarray(one) for one in values]), *part)

    remaining = itertools.chain([first], rows)

    def batches() -> Iterator[Any]:
        while part := list(itertools.islice(remaining, batch_size)):
            yield stacked(part)

    return _from(batches, tf.nest.map_structure(_spec, stacked([first])))
