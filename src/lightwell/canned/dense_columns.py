"""Dense columns side by side, for the deep part of a model.

TensorFlow's `input_layer` does it, by ours that passes the book; it refuses the columns of
`tf.feature_column.shared_embeddings`, so those are read here. Their tables are trained like any other weight.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell import _tf
from lightwell._names import Face
from lightwell.feature_columns import ColumnsLayer, input_layer
from lightwell.feature_columns.book import ColumnsAtBook, distinct
from lightwell.feature_columns.checks import checked_columns
from lightwell.feature_columns.slots import slots_of, width_of
from lightwell.feature_columns.state import ColumnState, Wanted

_v1 = tf.compat.v1
_NAME = "input_layer"


def dense_columns(features: Any, columns: tuple[Any, ...], face: Face, where: str) -> Any:
    """The columns side by side, `[batch, width]`; variables are below `input_layer` in the current variable scope.

    Args:
        features: the batch's features.
        columns: the columns, in any order.
        face: whose names shared tables get.
        where: the model, for errors.
    """
    if not any(hasattr(column, "shared_embedding_column_creator") for column in columns):
        return input_layer(features, list(columns))
    ordered = checked_columns(where, columns, _tf.feature_columns().DenseColumn)
    state = ColumnState(ordered, _new_variable)
    _make_shared_tables(state, face)
    cache = _tf.feature_columns().FeatureTransformationCache(features)
    with _v1.variable_scope(_NAME) as scope:
        book = ColumnsAtBook(features, "InputLayer", scope.name)
        for column in ordered:
            with _v1.variable_scope(None, default_name=column.name):
                column.create_state(state)
                tensor = column.get_dense_tensor(book.cache_of(column, cache), state)
                state.tensors[column] = tf.reshape(tensor, [tf.shape(tensor)[0], width_of(column)])
        layer, variables = (
            ColumnsLayer(scope.name, slots_of(state.tensors)),
            {c: state.variables_of(c) for c in ordered},
        )
        parts = book.parts_given(layer.name, layer.columns, state.tensors, variables)
        joined = tf.concat(list(parts.values()), axis=1, name="concat")
        return book.whole_given(joined, distinct(one for found in variables.values() for one in found), layer)


def _make_shared_tables(state: ColumnState, face: Face) -> None:
    """The v1 face makes them in the scope where columns are read, the v2 face below no scope at all."""
    if face == "v1":
        state.shared_tables()
        return
    with _v1.variable_scope(_v1.VariableScope(reuse=False, name=""), auxiliary_name_scope=False), tf.name_scope(""):
        state.shared_tables()


def _new_variable(wanted: Wanted) -> Any:
    return _v1.get_variable(
        wanted.name, wanted.shape, wanted.dtype, initializer=wanted.initializer, trainable=wanted.trainable
    )
