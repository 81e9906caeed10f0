"""`tf.compat.v1.feature_column.linear_model`, written down.

Owns the function under TensorFlow's signature. TensorFlow's own does the work; ours adds the book of layers: the model,
and each column with its term of the sum.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.feature_columns.book import distinct, record_parts, with_shared
from lightwell.feature_columns.hints import explained
from lightwell.feature_columns.slots import ColumnsLayer, ColumnTerm
from lightwell.layers.attach import attach_layer
from lightwell.layers.record import record_call

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
    with explained(columns), warnings.catch_warnings():
        # About TensorFlow's own way of making these weights; nothing that a caller could change.
        warnings.filterwarnings("ignore", message="`layer.add_variable` is deprecated", category=UserWarning)
        result = tensorflows_linear_model(
            features, columns, units, sparse_combiner, weight_collections, trainable, variables
        )
    if cols_to_vars is not None:
        cols_to_vars.update(variables)
    _record(features, result, {column: list(found) for column, found in variables.items()})
    return result


def _record(features: Any, result: Any, variables: dict[Any, list[Any]]) -> None:
    bias = variables.pop(_BIAS)
    terms = tuple(ColumnTerm(column.name, column) for column in variables)
    layer, tensors, variables = (
        ColumnsLayer(_scope_of(bias[0]), terms),
        _terms(result, variables),
        with_shared(variables),
    )
    attach_layer(result, features, layer, {_BIAS: bias[0]})
    record_call(
        name=layer.name,
        kind="LinearModel",
        inputs=features,
        outputs=result,
        variables=[*distinct(v for found in variables.values() for v in found), *bias],
        layer=layer,
    )
    record_parts(name=layer.name, features=features, parts=terms, tensors=tensors, variables=variables)


def _scope_of(variable: Any) -> str:
    """The scope that a variable was made in; `.../part_0` is a piece of the variable above it."""
    return str(variable.op.name.split("/part_")[0].rpartition("/")[0])


def _terms(result: Any, variables: Mapping[Any, list[Any]]) -> dict[Any, Any]:
    """Column -> its term. TensorFlow does not hand the terms out; it names them alike, after the column's scope."""
    if not isinstance(result, tf.Tensor) or tf.executing_eagerly():
        return {}
    inside = result.op.name.rpartition("/")[0]
    terms = {}
    for column, found in variables.items():
        name = f"{inside}/{_scope_of(found[0]).rpartition('/')[2]}/weighted_sum:0"
        try:
            terms[column] = result.graph.get_tensor_by_name(name)
        except KeyError:
            continue
    return terms
