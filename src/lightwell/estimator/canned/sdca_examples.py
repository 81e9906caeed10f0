"""Examples as dual coordinate ascent takes them: columns as lists of (example, row of the weights, value), or dense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError
from lightwell.foreign import private_tf
from lightwell.model.feature_columns.state import ColumnState, VariableSpec
from lightwell.model.layers.variables import pieces_of


@dataclass(frozen=True)
class Examples:
    """A batch. The lists are by column; those of categories come first among `weights`, then the dense ones, the bias.

    Attributes:
        sparse_examples: the numbers of the examples that have a value.
        sparse_ids: the row of the weights that it counts for.
        sparse_rows: the rows that the batch needs, each once.
        sparse_values: the values.
        dense: the values of dense columns, `[batch, width]`, and ones for the bias.
        weights: the variables.
        example_weights: `[batch]`.
        labels: `[batch]`.
    """

    sparse_examples: list[Any]
    sparse_ids: list[Any]
    sparse_rows: list[Any]
    sparse_values: list[Any]
    dense: list[Any]
    weights: list[Any]
    example_weights: Any
    labels: Any


def examples_of(
    features: Mapping[str, Any],
    variables: Mapping[Any, Sequence[Any]],
    bias: Sequence[Any],
    labels: Any,
    example_weights: Any,
    batch_size: Any,
    where: str,
) -> Examples:
    """The batch.

    Args:
        features: the batch's features.
        variables: column -> its variables.
        bias: the bias.
        labels: the labels, as numbers.
        example_weights: the weights of examples, or one for all.
        batch_size: how many examples there are.
        where: the model, for errors.

    Raises:
        UsageError: a column cannot be used, or weights are split over several servers.
    """
    cache = private_tf.feature_columns().FeatureTransformationCache(features)
    state = ColumnState(tuple(variables), lambda spec: _existing(variables, spec))
    sparse: list[tuple[Any, Any, Any]] = []
    sparse_weights: list[Any] = []
    dense: list[Any] = []
    dense_weights: list[Any] = []
    for column in sorted(variables, key=lambda one: str(one.name)):
        weights = _weights_of(variables[column], column.name, where)
        column.create_state(state)
        if hasattr(column, "get_sparse_tensors"):  # categories, and buckets of numbers
            sparse.append(_combined(column.get_sparse_tensors(cache, state)))
            sparse_weights.append(weights)
            continue
        if len(column.variable_shape) > 1:
            raise UsageError(
                f"{where}: Column {type(column).__name__} has rank {len(column.variable_shape)}, larger than 1: "
                f"LinearSDCA cannot use {column.name!r}. Pass the categorical column itself, without indicator_column."
            )
        dense.append(tf.reshape(column.get_dense_tensor(cache, state), [batch_size, weights.shape[0]]))
        dense_weights.append(weights)
    ones = tf.ones([batch_size], tf.float32)
    return Examples(
        sparse_examples=[examples for examples, _, _ in sparse],
        sparse_ids=[ids for _, ids, _ in sparse],
        sparse_rows=[tf.unique(ids).y for _, ids, _ in sparse],
        sparse_values=[values for _, _, values in sparse],
        dense=[*dense, tf.expand_dims(ones, 1)],
        weights=[*sparse_weights, *dense_weights, _weights_of(bias, "bias", where)],
        example_weights=ones * tf.reshape(tf.cast(example_weights, tf.float32), [-1]),
        labels=tf.reshape(tf.cast(labels, tf.float32), [-1]),
    )


def _combined(column_tensors: Any) -> tuple[Any, Any, Any]:
    """(example, id, value) of the valid entries; values of the same example and id are summed."""
    ids = column_tensors.id_tensor
    values = (
        tf.ones_like(ids.values, tf.float32)
        if column_tensors.weight_tensor is None
        else column_tensors.weight_tensor.values
    )
    is_valid = ids.values >= 0
    examples = tf.boolean_mask(ids.indices[:, 0], is_valid)
    rows = tf.cast(tf.boolean_mask(ids.values, is_valid), tf.int64)
    values = tf.boolean_mask(values, is_valid)
    width = tf.reduce_max(tf.concat([rows, [0]], 0)) + 1
    pairs, place = tf.unique(examples * width + rows)
    summed = tf.math.unsorted_segment_sum(values, place, tf.size(pairs))
    return pairs // width, pairs % width, summed


def _weights_of(variables: Sequence[Any], name: str, where: str) -> Any:
    pieces = [piece for one in variables for piece in pieces_of(one) if "embedding_weights" not in piece.op.name]
    if len(pieces) != 1:
        raise UsageError(
            f"{where}: LinearSDCA needs the weights of each column in one piece, those of {name!r} are in "
            f"{len(pieces)}. Leave out partitioner."
        )
    return pieces[0]


def _existing(variables: Mapping[Any, Sequence[Any]], spec: VariableSpec) -> Any:
    """The variable that a column has already, by its name."""
    return next(one for one in variables[spec.column] if spec.name in one.name)
