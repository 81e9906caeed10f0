"""Layers over old feature columns: `input_from_feature_columns`, `weighted_sum_from_feature_columns` and their like.

Variables have the names of TensorFlow 1.15 (`input_from_feature_columns/city_embedding/weights`); columns, its order.
Columns of `tf.feature_column` are taken, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.compat.contrib.framework.variables import model_variable
from lightwell.compat.contrib.layers.columns import Contrib, contrib_of
from lightwell.compat.contrib.layers.embeddings import safe_embedding_lookup_sparse
from lightwell.compat.contrib.layers.making import Making, making
from lightwell.errors import UsageError
from lightwell.model.layers.variables import pieces_of

v1 = tf.compat.v1


class Transformed:
    """What columns make of features, each once. Columns ask it for features, and for each other."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        self._features = features
        self._made: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any = None, training: Any = None) -> Any:
        """A feature by its name, or what a column makes of its features."""
        place = key if isinstance(key, str) else id(key)
        if place not in self._made:
            made = self._feature(key) if isinstance(key, str) else key.transform_feature(self, state_manager)
            self._made[place] = made
        return self._made[place]

    def _feature(self, name: str) -> Any:
        if name not in self._features:
            raise UsageError(f"Feature {name!r} is not in the features: {sorted(map(str, self._features))}.")
        value = self._features[name]
        if isinstance(value, tf.SparseTensor):
            return value
        value = tf.convert_to_tensor(value)
        return tf.expand_dims(value, -1) if value.shape.rank == 1 else value


def check_feature_columns(feature_columns: Iterable[Any]) -> None:
    """Raises if two columns are the same.

    Raises:
        UsageError: they are.
    """
    seen = set()
    for column in feature_columns:
        key = (contrib_of(column).key, column)
        if key in seen:
            raise UsageError(
                f"Duplicate feature column key found for column: {contrib_of(column).name}. This usually means that "
                "the column is almost identical to another column, and one must be discarded."
            )
        seen.add(key)


def in_order(feature_columns: Iterable[Any]) -> list[tuple[Any, Contrib]]:
    """Columns in the order in which `tf.contrib.layers` took them, each once."""
    columns = list(feature_columns)
    check_feature_columns(columns)
    return sorted(((column, contrib_of(column)) for column in columns), key=lambda pair: pair[1].key)


def input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Any],
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """The input of a net: what all columns give, side by side.

        net = tf.contrib.layers.input_from_feature_columns(features, [age, city_embedding])

    Args:
        columns_to_tensors: features by name.
        feature_columns: real-valued, bucketized, one-hot and embedding columns.
        weight_collections: collections for the variables.
        trainable: whether they are trained.
        scope: the variable scope; `input_from_feature_columns` if None.
        cols_to_outs: a dict that receives the output of each column.

    Raises:
        UsageError: a column has no dense form.
    """
    settings = {"trainable": trainable, "variables_collections": weight_collections}
    default = "input_from_feature_columns"
    with making(default, columns_to_tensors, scope, default, **settings) as one:
        transformed = Transformed(one.inputs)
        parts = []
        for column, contrib in in_order(feature_columns):
            with v1.variable_scope(None, contrib.name, list(columns_to_tensors.values())):
                part = _dense(one, column, contrib, transformed)
            parts.append(part)
            if cols_to_outs is not None:
                cols_to_outs[column] = part
        return one.finished(tf.concat(parts, 1))


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """A linear model over columns.

    Args:
        columns_to_tensors: features by name.
        feature_columns: real-valued, bucketized, sparse, crossed and weighted columns.
        num_outputs: how many sums there are.
        weight_collections: collections for the variables.
        trainable: whether they are trained.
        scope: the variable scope; `weighted_sum_from_feature_columns` if None.

    Returns:
        The sums; the variables of each column; the bias.

    Raises:
        UsageError: a column cannot be weighed.
    """
    settings = {"trainable": trainable, "variables_collections": weight_collections}
    default = "weighted_sum_from_feature_columns"
    with making(default, columns_to_tensors, scope, default, **settings) as one:
        transformed = Transformed(one.inputs)
        sums, variables = [], {}
        for column, contrib in in_order(feature_columns):
            with v1.variable_scope(None, contrib.name, list(columns_to_tensors.values())):
                total, weights = _weighed(one, column, contrib, transformed, num_outputs)
            sums.append(total)
            variables[column] = pieces_of(weights)
        return _with_bias(one, sums, num_outputs, variables)


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[Any],
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, list[Any], Any]:
    """`weighted_sum_from_feature_columns`, with the weights of all columns in one variable."""
    settings = {"trainable": trainable, "variables_collections": weight_collections}
    default = "joint_weighted_sum_from_feature_columns"
    with making(default, columns_to_tensors, scope, default, **settings) as one:
        transformed = Transformed(one.inputs)
        ids, start, combiners = [], 0, []
        for column, contrib in in_order(feature_columns):
            sparse, weights = _ids(column, contrib, transformed)
            if weights is not None:
                raise UsageError(f"joint_weighted_sum_from_feature_columns: column {contrib.name} has weights.")
            ids.append(tf.SparseTensor(sparse.indices, sparse.values + start, sparse.dense_shape))
            combiners.append(contrib.combiner)
            start += column.num_buckets
        if len(set(combiners)) != 1:
            raise UsageError(f"Combiner must be the same for all columns; got {sorted(set(combiners))}.")
        with v1.variable_scope("linear_weights"):
            table = _variable(one, "weights", [start, num_outputs], v1.zeros_initializer())
            total = _looked_up(table, tf.sparse.concat(1, ids), None, combiners[0])
        total, _, bias = _with_bias(one, [total], num_outputs, {})
        return total, pieces_of(table), bias


def transform_features(features: Mapping[str, Any], feature_columns: Iterable[Any]) -> dict[Any, Any]:
    """What each column makes of its features, before any layer: ids of sparse columns, numbers of buckets."""
    transformed = Transformed(features)
    check_feature_columns(columns := list(feature_columns))
    return {column: transformed.get(column) for column in columns}


def _dense(one: Making, column: Any, contrib: Contrib, transformed: Transformed) -> Any:
    if hasattr(column, "categorical_column") and hasattr(column, "dimension"):
        return _embedded(one, column, contrib, transformed)
    if not hasattr(column, "get_dense_tensor"):
        kind = "CrossedColumn" if "_X_" in contrib.name else "SparseColumn"
        raise UsageError(
            f"Error creating input layer for column: {contrib.name}. {kind} is not supported in DNN. Please use "
            "embedding_column or one_hot_column."
        )
    dense = column.get_dense_tensor(transformed, None)
    size = int(column.variable_shape.num_elements())
    rows = tf.compat.dimension_value(dense.shape[0])
    made = tf.reshape(dense, [-1 if rows is None else rows, size])
    return tf.cast(made, tf.float32)


def _embedded(one: Making, column: Any, contrib: Contrib, transformed: Transformed) -> Any:
    source = column.categorical_column
    ids, weights = _ids(source, contrib, transformed)
    shape = [source.num_buckets, column.dimension]
    trainable = one.trainable and column.trainable
    shared = getattr(column, "shared_embedding_collection_name", None)
    if shared is None:
        table = _variable(one, "weights", shape, column.initializer, trainable)
    else:
        collection = f"SHARED_EMBEDDING_COLLECTION_{shared.upper()}"
        known = v1.get_collection(collection)
        table = known[0] if known else _variable(one, shared, shape, column.initializer, trainable)
        if not known:
            v1.add_to_collection(collection, table)
    if column.ckpt_to_load_from is not None:
        v1.train.init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: table})
    return _looked_up(table, ids, weights, column.combiner, column.max_norm)


def _weighed(one: Making, column: Any, contrib: Contrib, transformed: Transformed, size: int) -> tuple[Any, Any]:
    zeros = v1.zeros_initializer()
    if hasattr(column, "source_column"):  # buckets, of which each has its weights
        dense = column.get_dense_tensor(transformed, None)
        length = int(column.variable_shape.num_elements())
        weights = _variable(one, "weights", [length, size], zeros)
        return tf.matmul(tf.reshape(dense, [-1, length]), weights), weights
    if hasattr(column, "num_buckets") and not hasattr(column, "get_dense_tensor"):
        ids, factors = _ids(column, contrib, transformed)
        weights = _variable(one, "weights", [column.num_buckets, size], zeros)
        return _looked_up(weights, ids, factors, contrib.combiner), weights
    if hasattr(column, "normalizer_fn"):
        dense = tf.cast(column.get_dense_tensor(transformed, None), tf.float32)
        length = int(column.variable_shape.num_elements())
        weights = _variable(one, "weight", [length, size], zeros)
        return tf.matmul(tf.reshape(dense, [-1, length]), weights), weights
    raise UsageError(
        f"Error creating weighted sum for column: {contrib.name}. Column is not supported in linear models. Please use "
        "sparse_column, crossed_column, bucketized_column or real_valued_column."
    )


def _ids(column: Any, contrib: Contrib, transformed: Transformed) -> tuple[Any, Any]:
    if not hasattr(column, "get_sparse_tensors"):
        raise UsageError(f"column {contrib.name} has no ids. Use a sparse, crossed or bucketized column.")
    found = column.get_sparse_tensors(transformed, None)
    return found.id_tensor, found.weight_tensor


def _looked_up(table: Any, ids: Any, weights: Any, combiner: str, max_norm: float | None = None) -> Any:
    pieces = pieces_of(table)
    return safe_embedding_lookup_sparse(pieces, ids, weights, combiner, max_norm=max_norm)


def _variable(one: Making, name: str, shape: list[int], initializer: Any, trainable: bool | None = None) -> Any:
    made = model_variable(
        name,
        shape=shape,
        dtype=tf.float32,
        initializer=initializer,
        trainable=one.trainable if trainable is None else trainable,
        collections=one.collections_of(name),
    )
    one.made += pieces_of(made)
    return made


def _with_bias(one: Making, sums: list[Any], size: int, variables: dict[Any, Any]) -> tuple[Any, Any, Any]:
    bias = _variable(one, "bias_weight", [size], v1.zeros_initializer())
    total = one.finished(tf.nn.bias_add(tf.add_n(sums), bias, name="BiasAdd"))
    return total, variables, bias
