"""A batch and its examples: how many there are, and the value of each."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.engine.program import Program
from lightwell.inputs.unpack import leaves_of


def batch_size(program: Program) -> Any:
    """The number of examples in a batch, read off the first feature or label that has a batch dimension."""
    with program.graph.as_default(), tf.name_scope("lightwell/sight"):
        for leaf in leaves_of([program.inputs.features, program.inputs.labels]):
            if isinstance(leaf, tf.SparseTensor):
                return leaf.dense_shape[0]
            if isinstance(leaf, tf.RaggedTensor):
                return leaf.nrows()
            if isinstance(leaf, tf.Tensor) and leaf.shape.rank != 0:
                return tf.shape(leaf)[0]
        return tf.constant(0)


def examples_of(value: Any, size: int) -> Any:
    """A sequence of what each example has of a fetched value; None where it is not made of `size` examples."""
    if isinstance(value, np.ndarray):
        return value if value.ndim and len(value) == size else None
    if isinstance(value, tf.compat.v1.SparseTensorValue):
        return _sparse_rows(value) if value.dense_shape[0] == size else None
    if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue):
        return _ragged_rows(value) if len(value.row_splits) == size + 1 else None
    return None


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
