"""Columns as trees see them: each a number of features, each feature a bucket per example.

Features are numbered in the order of the names of their columns; the trees in a checkpoint know them by these numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import WrongKind
from lightwell.estimator.canned.columns import check_features, column_list
from lightwell.estimator.canned.trees.resources import NAME, Boundaries
from lightwell.foreign import private_columns, private_tf
from lightwell.model.feature_columns.book import ColumnsAtBook
from lightwell.model.feature_columns.slots import ColumnSlot

AT_MOST, EQUAL = "inequality", "equality"  # how a split tells buckets apart, in the words of the kernels


@dataclass(frozen=True, eq=False)
class TreeColumn:
    """A column.

    Attributes:
        column: the column.
        label: its name in importances and explanations: that of the categories for an `indicator_column`.
        width: how many features it is.
        buckets: how many buckets each has.
        split: how a split tells them apart.
        is_number: whether buckets are made of quantiles.
        boundaries: those of a `bucketized_column`.
        words: the values of the buckets, where a column lists them.
    """

    column: Any
    label: str
    width: int
    buckets: int
    split: str = AT_MOST
    is_number: bool = False
    boundaries: tuple[float, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeatureGroup:
    """Features with as many buckets.

    Attributes:
        buckets: how many.
        ids: the numbers of the features.
        splits: how a split tells the buckets of each apart.
    """

    buckets: int
    ids: tuple[int, ...]
    splits: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Inputs:
    """The features of a batch.

    Attributes:
        buckets: the bucket of each example, for each feature by its number, `[batch, 1]`.
        numbers: the numbers, of which quantiles are made, each `[batch]`.
    """

    buckets: tuple[Any, ...]
    numbers: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """All columns of a model.

    Attributes:
        where: the model, for errors.
        columns: the columns, in the order of their names.
    """

    where: str
    columns: tuple[TreeColumn, ...]

    @property
    def of_features(self) -> tuple[TreeColumn, ...]:
        """The column of each feature."""
        return tuple(column for column in self.columns for _ in range(column.width))

    @property
    def numbers(self) -> int:
        """How many numbers an example has."""
        return sum(column.width for column in self.columns if column.is_number)

    def groups(self) -> tuple[FeatureGroup, ...]:
        """Features by how many buckets they have; of splits that gain as much, the first found is taken.

        Bucketized columns all have as many buckets as the largest of them, and come last.
        """
        largest = max((len(column.boundaries) + 1 for column in self.columns if column.boundaries), default=0)
        numbered = list(enumerate(self.of_features))
        found: dict[int, list[tuple[int, str]]] = {}
        for number, column in numbered:
            if not column.boundaries:
                found.setdefault(column.buckets, []).append((number, column.split))
        for number, column in numbered:
            if column.boundaries:
                found.setdefault(largest, []).append((number, column.split))
        return tuple(
            FeatureGroup(buckets, tuple(number for number, _ in members), tuple(split for _, split in members))
            for buckets, members in found.items()
        )

    def inputs(self, features: Any, boundaries: Boundaries, name: str = NAME) -> tuple[Inputs, ColumnsAtBook]:
        """The features of a batch, each column a layer at the book: `layers/boosted_trees/age`.

        Args:
            features: the batch's features.
            boundaries: those of the buckets of numbers.
            name: the layer of the columns.
        """
        check_features(features, [column.column for column in self.columns], self.where)
        cache = private_tf.feature_columns().FeatureTransformationCache(features)
        book = ColumnsAtBook(features, kind="BoostedTrees", name=name)
        read = {one.column: _read(one, book.cache_of(one.column, cache), self.where) for one in self.columns}
        slots, start = [], 0
        for one in self.columns:
            slots.append(ColumnSlot(one.column.name, start, start + one.width, one.column))
            start += one.width
        read = book.pass_columns(name, slots, read, {})
        numbers = tuple(
            number for one in self.columns if one.is_number for number in tf.unstack(read[one.column], axis=1)
        )
        of_numbers = iter(boundaries.buckets_of(numbers))
        buckets = tuple(
            next(of_numbers) if one.is_number else part
            for one in self.columns
            for part in (range(one.width) if one.is_number else tf.split(read[one.column], one.width, axis=1))
        )
        return Inputs(buckets, numbers), book


def tree_columns(feature_columns: Any, epsilon: float, where: str) -> TreeColumns:
    """The columns of a model.

    Args:
        feature_columns: the columns, as a user gave them.
        epsilon: how exact the quantiles of numbers are.
        where: the model, for errors.

    Raises:
        UsageError: there are none, or one is of a kind that trees cannot read.
    """
    columns = sorted(column_list(feature_columns, where), key=lambda column: column.name)
    return TreeColumns(where, tuple(_tree_column(column, epsilon, where) for column in columns))


def _tree_column(column: Any, epsilon: float, where: str) -> TreeColumn:
    if isinstance(column, private_columns._NumericColumn):
        return TreeColumn(column, column.name, math.prod(column.shape), int(1 / epsilon), is_number=True)
    if isinstance(column, private_columns._BucketizedColumn):
        _check_single(column, math.prod(column.source_column.shape), where)
        boundaries = tuple(float(one) for one in column.boundaries)
        return TreeColumn(column, column.name, 1, len(boundaries) + 1, boundaries=boundaries)
    if isinstance(column, private_columns._IndicatorColumn):
        inner = column.categorical_column
        _refuse_weighted(inner, where)
        return TreeColumn(column, inner.name, int(column.variable_shape[-1]), 2, words=_words(inner))
    if hasattr(column, "num_buckets") and hasattr(column, "get_sparse_tensors"):
        _refuse_weighted(column, where)
        return TreeColumn(column, column.name, 1, int(column.num_buckets), split=EQUAL, words=_words(column))
    raise WrongKind(
        f"{where}: trees cannot read the column {column.name!r}, a {type(column).__name__}. For now, only "
        "bucketized_column, numeric_column, indicator_column and categorical columns are supported; an "
        "embedding_column has weights that trees do not train. Wrap the categories with "
        "tf.feature_column.indicator_column(...)."
    )


def _words(column: Any) -> tuple[str, ...]:
    """The values of a `categorical_column_with_vocabulary_list`."""
    return tuple(str(word) for word in getattr(column, "vocabulary_list", ()))


def _check_single(column: Any, width: int, where: str) -> None:
    if width != 1:
        raise WrongKind(
            f"{where}: the column {column.name!r} has {width} numbers per example, and trees read a bucketized_column "
            "of one. Make a column for each number, or use the numeric_column itself."
        )


def _refuse_weighted(column: Any, where: str) -> None:
    if isinstance(column, private_columns._WeightedCategoricalColumn):
        raise WrongKind(
            f"{where}: the column {column.name!r} weighs its categories, and trees only tell whether an example has "
            "one. Use the categorical column in it, and a numeric_column for the weight."
        )


def _read(one: TreeColumn, cache: Any, where: str) -> Any:
    """What a column makes of its features: numbers, or buckets, `[batch, width]`."""
    if one.split == EQUAL:
        return _single_category(one, cache, where)
    with tf.name_scope("transform_features"):
        values = cache.get(one.column, None)
    if one.is_number:
        return tf.reshape(tf.cast(values, tf.float32), [-1, one.width])
    return tf.reshape(tf.cast(values, tf.int32), [-1, one.width])


def _single_category(one: TreeColumn, cache: Any, where: str) -> Any:
    """The category of each example; the first where it has none."""
    with tf.name_scope("transform_features"):
        ids = one.column.get_sparse_tensors(cache, None).id_tensor
    dense = tf.cast(tf.sparse.to_dense(ids, default_value=0, validate_indices=False), tf.int32)
    single = tf.debugging.assert_equal(
        tf.shape(dense)[1],
        1,
        message=f"{where}: the column {one.column.name!r} has several categories for an example. Wrap it with "
        "tf.feature_column.indicator_column.",
    )
    with tf.control_dependencies([single]):
        return tf.reshape(dense, [-1, 1])
