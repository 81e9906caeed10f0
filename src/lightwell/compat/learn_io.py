"""`tf.contrib.learn.io`: the functions of `tf.estimator.inputs` as they were there, where they shuffled by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.inputs import numpy_input_fn as of_numpy
from lightwell.inputs import pandas_input_fn as of_pandas

__all__ = ["numpy_input_fn", "pandas_input_fn"]


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """`tf.estimator.inputs.numpy_input_fn`, which see, shuffling unless told not to."""
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
    """`tf.estimator.inputs.pandas_input_fn`, which see, shuffling unless told not to."""
    return of_pandas.pandas_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)
