"""Dense columns side by side, for the deep part of a model.

`input_layer` does it for most columns. It refuses those of `tf.feature_column.shared_embeddings`, which are read here;
their tables are trained like any other weight.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.base.public_names import Face
from lightwell.foreign import private_tf
from lightwell.model.feature_columns import ColumnsLayer, input_layer
from lightwell.model.feature_columns.book import ColumnsAtBook, distinct
from lightwell.model.feature_columns.checks import checked_columns
from lightwell.model.feature_columns.slots import slots_of, width_of
from lightwell.model.feature_columns.state import ColumnState, VariableSpec

_v1 = tf.compat.v1
_NAME = "input_layer"


def dense_columns(features: Any, columns: tuple[Any, ...], face: Face, where: str) -> Any:
    """The columns side by side, `[batch, width]`; variables are below `input_layer` in the current variable scope.

    Args:
        features: the batch's features.
        columns: the columns, in any order.
        face: the face whose names shared tables get.
        where: the model, for errors.
    """
    if not any(hasattr(column, "shared_embedding_column_creator") for column in columns):
        return input_layer(features, list(columns))
    ordered = checked_columns(where, columns, private_tf.feature_columns().DenseColumn)
    state = ColumnState(ordered, _new_variable)
    _create_shared_tables(state, face)
    cache = private_tf.feature_columns().FeatureTransformationCache(features)
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
        parts = book.pass_columns(layer.name, layer.columns, state.tensors, variables)
        joined = tf.concat(list(parts.values()), axis=1, name="concat")
        return book.pass_layer(joined, distinct(one for of_column in variables.values() for one in of_column), layer)


def _create_shared_tables(state: ColumnState, face: Face) -> None:
    """The v1 face creates them in the scope of the columns, the v2 face outside of any scope."""
    if face == "v1":
        state.shared_tables()
        return
    with _v1.variable_scope(_v1.VariableScope(reuse=False, name=""), auxiliary_name_scope=False), tf.name_scope(""):
        state.shared_tables()


def _new_variable(spec: VariableSpec) -> Any:
    return _v1.get_variable(spec.name, spec.shape, spec.dtype, initializer=spec.initializer, trainable=spec.trainable)
