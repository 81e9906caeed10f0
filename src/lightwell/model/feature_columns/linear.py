"""`tf.compat.v1.feature_column.linear_model`, past the book of layers.

Owns the function under TensorFlow's signature. TensorFlow's own does the work; ours adds the book of layers: the model,
and each column with its term of the sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.foreign import private_tf
from lightwell.model.feature_columns.book import ColumnsAtBook, distinct, with_shared
from lightwell.model.feature_columns.hints import explained, without_warnings
from lightwell.model.feature_columns.slots import ColumnsLayer, ColumnTerm
from lightwell.model.layers.attach import attach_layer

tensorflows_linear_model = tf.compat.v1.feature_column.linear_model
_BIAS = "bias"


def linear_model(
    features: Any,
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: dict[Any, Any] | None = None,
) -> Any:
    """Sums the columns, each times its weights, and a bias.

    Args:
        features: feature key -> tensor.
        feature_columns: columns, dense or categorical.
        units: how many sums.
        sparse_combiner: what several values of a categorical column give: their "sum", "mean" or "sqrtn".
        weight_collections: graph collections that new variables also go to.
        trainable: whether new variables go to `GraphKeys.TRAINABLE_VARIABLES`.
        cols_to_vars: filled with column -> its new variables, and `"bias"` -> a list with the bias.

    Returns:
        A tensor `[batch, units]`.
    """
    columns = list(feature_columns) if isinstance(feature_columns, Iterator) else feature_columns
    variables: dict[Any, Any] = {}
    book = ColumnsAtBook(features, "LinearModel")
    with explained(columns), without_warnings():
        result = tensorflows_linear_model(
            features, book.reading(columns), units, sparse_combiner, weight_collections, trainable, variables
        )
    if cols_to_vars is not None:
        cols_to_vars.update(variables)
    return _passed(book, result, {column: list(used) for column, used in variables.items()})


def _passed(book: ColumnsAtBook, result: Any, variables: dict[Any, list[Any]]) -> Any:
    bias = variables.pop(_BIAS)
    layer = ColumnsLayer(_scope_of(bias[0]), tuple(ColumnTerm(column.name, column) for column in variables))
    terms, shared = _terms(result, variables), with_shared(variables)
    parts = book.pass_columns(layer.name, layer.columns, terms, shared)
    own = [*distinct(v for used in shared.values() for v in used), *bias]
    result = book.pass_layer(_summed(result, terms, parts), own, layer)
    attach_layer(result, book.features, layer, {_BIAS: bias[0]})
    return result


def _scope_of(variable: Any) -> str:
    """The scope of a variable; `.../part_0` is a piece of the variable above it."""
    return str(private_tf.variable_name(variable).split("/part_")[0].rpartition("/")[0])


def _terms(result: Any, variables: Mapping[Any, list[Any]]) -> dict[Any, Any]:
    """Column -> its term. TensorFlow does not return the terms; each is created in a scope named after the column."""
    if not isinstance(result, tf.Tensor) or tf.executing_eagerly():
        return {}
    inside, terms = result.op.name.rpartition("/")[0], {}
    for column, used in variables.items():
        scope = f"{inside}/{_scope_of(used[0]).rpartition('/')[2]}/"
        own = [term for term in _addends(result) if term.name.startswith(scope)]
        if len(own) == 1:
            terms[column] = own[0]
    return terms


def _summed(result: Any, before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Any:
    """The terms and the bias; TensorFlow has added them up already, but for the terms that were changed since."""
    changed = {id(before[column]): after[column] for column in after if after[column] is not before[column]}
    if not changed:
        return result
    terms = tf.add_n([changed.get(id(term), term) for term in _addends(result)])
    return tf.nn.bias_add(terms, result.op.inputs[1])


def _addends(result: Any) -> list[Any]:
    """What TensorFlow added up before the bias: one tensor per column."""
    return list(result.op.inputs[0].op.inputs)
