"""A batch and its examples: how many there are, the value of each, and those of all batches joined again."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.run.engine.program import Program
from lightwell.run.inputs.unpack import leaves_of


def batch_size(program: Program) -> Any:
    """The number of examples in a batch, read off the first feature or label that has a batch dimension.

    Under a strategy, of the batches of all replicas.
    """
    with program.graph.as_default(), tf.name_scope("lightwell/sight"):
        if program.replicas is None:
            return _rows([program.inputs.features, program.inputs.labels])
        batches = program.replicas.batches
        sizes = [tf.cast(_rows([one.features, one.labels]), tf.int64) for one in batches]
        own = [one.is_own if one.is_own is not None else True for one in batches]
        return tf.add_n([tf.where(there, size, tf.zeros_like(size)) for size, there in zip(sizes, own, strict=True)])


def _rows(structure: Any) -> Any:
    for leaf in leaves_of(structure):
        if isinstance(leaf, tf.SparseTensor):
            return leaf.dense_shape[0]
        if isinstance(leaf, tf.RaggedTensor):
            return leaf.nrows()
        if isinstance(leaf, tf.Tensor) and leaf.shape.rank != 0:
            return tf.shape(leaf)[0]
    return tf.constant(0)


def examples_of(value: Any, size: int) -> Any:
    """A sequence of what each example has of a fetched value; None where it is not made of `size` examples."""
    if not has_examples(value, size):
        return None
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        return _sparse_rows(value)
    return value if isinstance(value, np.ndarray) else _ragged_rows(value)


def has_examples(value: Any, size: int) -> bool:
    """Whether a fetched value is made of `size` examples."""
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        return bool(value.dense_shape[0] == size)
    if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue):
        return len(value.row_splits) == size + 1
    return isinstance(value, np.ndarray) and value.ndim > 0 and len(value) == size


def over_all(rows: Iterable[Any]) -> dict[str, Any]:
    """What rows of a prediction hold, over all examples, by path; the outputs of a layer in order.

    One array with a row for each example, or a list of their values where these have different shapes. What is not made
    of examples (time comes first, a scalar) is a list with the value of each batch.
    """
    batches: list[list[Any]] = []
    for row in rows:
        if not batches or batches[-1][0].batch is not row.batch:
            batches.append([])
        batches[-1].append(row)
    paths = sorted({path for batch in batches for path in (*batch[0], *batch[0].batch)}, key=_in_order)
    return {path: _over_batches(path, batches) for path in paths}


def _over_batches(path: str, batches: list[list[Any]]) -> Any:
    if all(path in batch[0] for batch in batches):
        return _stacked([row[path] for batch in batches for row in batch])
    # By chance, a batch may have as many examples as there are steps of time.
    return [_stacked([row[path] for row in batch]) if path in batch[0] else batch[0][path] for batch in batches]


def _stacked(values: list[Any]) -> Any:
    is_array = all(isinstance(value, np.ndarray | np.generic) for value in values)
    return np.stack(values) if is_array and len({value.shape for value in values}) == 1 else values


def _in_order(path: str) -> tuple[str, int]:
    """Sorts `lstm[10]` behind `lstm[9]`."""
    number = re.search(r"\[(\d+)\]$", path)
    return (path, 0) if number is None else (path[: number.start()], int(number[1]))


def _ragged_rows(value: Any) -> list[Any]:
    """Arrays; of a value that is ragged in several dimensions, nested lists."""
    if not isinstance(value.values, np.ndarray):
        return list(value.to_list())
    return [value.values[start:end] for start, end in itertools.pairwise(value.row_splits)]


def _sparse_rows(value: Any) -> list[Any]:
    shape = value.dense_shape[1:]
    rows = []
    for index in range(value.dense_shape[0]):
        mine = value.indices[:, 0] == index
        rows.append(tf.compat.v1.SparseTensorValue(value.indices[mine, 1:], value.values[mine], shape))
    return rows
