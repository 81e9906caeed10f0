"""Where `tf.contrib.learn` differs from `tf.estimator`: inputs shuffle by default, a mode has another name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.base import keys
from lightwell.compat.contrib.learn.pandas_io import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
)
from lightwell.run.inputs import numpy_input_fn as of_numpy
from lightwell.run.inputs import pandas_input_fn as of_pandas

__all__ = [
    "ModeKeys",
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "numpy_input_fn",
    "pandas_input_fn",
]


class ModeKeys(keys.ModeKeys):
    """The modes of `tf.estimator`, the last one under its older name too."""

    INFER = keys.ModeKeys.PREDICT


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """`tf.estimator.inputs.numpy_input_fn`, with `shuffle=True` by default."""
    return of_numpy.numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """`tf.estimator.inputs.pandas_input_fn`, with `shuffle=True` by default."""
    return of_pandas.pandas_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)
