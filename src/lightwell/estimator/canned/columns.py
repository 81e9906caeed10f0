"""Validates features against the feature columns of a canned model, before anything is computed.

Features must be a dict; each column needs its features, in a type that it can read, and its vocabulary file.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import ModelFileError, ModelFnError, UnknownFeature, UsageError, WrongFeature, WrongKind, near
from lightwell.foreign import private_tf
from lightwell.model.layers.record import feature_source


class VocabularyMissing(ModelFileError, tf.errors.NotFoundError):
    """A vocabulary file does not exist; TensorFlow would raise `NotFoundError` later."""

    def __init__(self, message: str) -> None:
        tf.errors.NotFoundError.__init__(self, None, None, message)

    def __str__(self) -> str:
        return str(self.message)


def column_list(feature_columns: Any, where: str, argument: str = "feature_columns") -> tuple[Any, ...]:
    """The argument `feature_columns` as a tuple.

    Raises:
        UsageError: there are none, or they are no columns.
    """
    if feature_columns is None:
        raise UsageError(f"{where}: {argument} must not be empty, got None. Pass at least one column.")
    if isinstance(feature_columns, Mapping | str) or not (
        isinstance(feature_columns, Iterable) or _is_column(feature_columns)
    ):
        raise WrongKind(
            f"{where}: {argument} must be a list of feature columns, got {type(feature_columns).__name__} "
            f"{feature_columns!r}. Pass [tf.feature_column.numeric_column('age'), ...]."
        )
    # A column of TensorFlow is a tuple itself.
    columns = (feature_columns,) if _is_column(feature_columns) else tuple(feature_columns)
    if not columns:
        raise UsageError(f"{where}: {argument} must not be empty. Pass at least one column.")
    for column in columns:
        if not _is_column(column):
            hint = f"numeric_column({column!r})" if isinstance(column, str) else "numeric_column('age')"
            raise UsageError(
                f"{where}: {argument} must hold feature columns only (FeatureColumn), got {column!r} "
                f"({type(column).__name__}). A column says how a feature is read: tf.feature_column.{hint}, or one of "
                "its siblings."
            )
    return columns


def dense_column_list(feature_columns: Any, where: str, argument: str = "feature_columns") -> tuple[Any, ...]:
    """The same for a network, which reads numbers: each column must give some.

    Raises:
        UsageError: there are none, they are no columns, or one is a category that nothing turns into numbers.
    """
    columns = column_list(feature_columns, where, argument)
    for column in columns:
        if not hasattr(column, "get_dense_tensor") and not hasattr(column, "_get_dense_tensor"):
            raise UsageError(
                f"{where}: Items of feature_columns must be a _DenseColumn, and the column {column.name!r} in "
                f"{argument} is a {type(column).__name__}. You can wrap a categorical column with an embedding_column "
                f"or indicator_column: wrap the column {column.name!r} with tf.feature_column.indicator_column(...) or "
                "embedding_column(..., dimension=8) if it has many values."
            )
    return columns


def _is_column(column: Any) -> bool:
    """Whether it is a column of TensorFlow, of the current or the older kind."""
    kind = type(column)
    return hasattr(column, "name") and (hasattr(kind, "parse_example_spec") or hasattr(kind, "_parse_example_spec"))


def check_features(features: Any, columns: Iterable[Any], where: str) -> None:
    """Refuses features that the columns cannot read.

    Raises:
        ModelFnError: features are no dict.
        UnknownFeature: the feature of a column is missing.
        WrongFeature: a feature has a type or a shape that its column cannot read.
        VocabularyMissing: a vocabulary file does not exist.
    """
    if not isinstance(features, Mapping):
        raise ModelFnError(
            f"{where}: features should be a dictionary of `Tensor`s. Given type: {type(features)}. Let "
            f"{feature_source()} give {{'age': ages, ...}}: each feature column looks its feature up by key."
        )
    for column in columns:
        for source in _sources(column):
            _check_source(features, source, column, where)
        _check_width(features, column, where)


def _check_source(features: Mapping[str, Any], source: Any, column: Any, where: str) -> None:
    for key in _keys(source):
        if key not in features:
            raise UnknownFeature(
                key,
                f"{where}: Feature {key} is not in features dictionary. The column {column.name!r} reads it; "
                f"{feature_source()} gave {sorted(map(str, features))}.{near(key, features)}",
            )
        _check_type(features[key], key, source, where)
    path = getattr(source, "vocabulary_file", None)
    if path is not None and tf.is_tensor(path) is False and not tf.io.gfile.exists(path):
        raise VocabularyMissing(
            f"{where}: vocabulary_file in {source.name} does not exist: {path!r} (No such file or directory). The "
            f"column {column.name!r} looks its words up in it: restore the file, or make the column with a path that "
            "is readable from here."
        )


def _check_type(feature: Any, key: str, source: Any, where: str) -> None:
    if not _is_tensorflows(source):  # the dtype of a custom column may be that of its output
        return
    is_class = hasattr(source, "number_buckets")  # a column of class numbers names no type
    expected, got = getattr(source, "dtype", tf.int64 if is_class else None), getattr(feature, "dtype", None)
    if expected is None or got is None:
        return
    expected, got = tf.as_dtype(expected), tf.as_dtype(got)
    is_words, are_words = expected == tf.string, got == tf.string
    if is_words == are_words and (expected.is_floating or is_words or got.is_integer):
        return
    if expected.is_floating:
        broken = "Cast string to float is not supported."
        advice = f"Convert it in {feature_source()}: tf.strings.to_number({key!r}), or use a categorical column "
        advice += "for words."
    elif is_class:
        broken = "Invalid input, not integer."
        advice = f"Convert it in {feature_source()} to class numbers from 0 on, tf.cast(..., tf.int64), or use a "
        advice += "categorical_column_with_vocabulary_list for words."
    elif got.is_floating:
        broken = "input_tensor dtype must be string or integer."
        advice = f"Use a bucketized_column for ranges of a number, or convert it in {feature_source()}."
    else:
        broken = "Column dtype and SparseTensors dtype must be compatible."
        advice = f"Convert it in {feature_source()}, or make the column with dtype=tf.{got.name}."
    raise WrongFeature(
        f"{where}: {broken} key: {key}, column dtype: {expected.name}, tensor dtype: {got.name}. The column "
        f"{source.name!r} ({type(source).__name__}) cannot read it. {advice}"
    )


def _check_width(features: Mapping[str, Any], column: Any, where: str) -> None:
    """Refuses a feature whose known width differs from that of its numeric column."""
    if not isinstance(column, private_tf.feature_columns().DenseColumn) or not _is_tensorflows(column):
        return  # sequences have no fixed length
    feature, expected = features.get(getattr(column, "key", "")), getattr(column, "shape", None)
    if expected is None or not isinstance(feature, tf.Tensor) or feature.shape.rank is None:
        return
    if getattr(column, "normalizer_fn", None) is not None:  # which may select a part
        return
    if feature.shape.rank == 0:
        raise WrongFeature(
            f"{where}: Feature (key: {column.key}) cannot have rank 0. Given: {feature!r}. It has a value for each "
            f"example: give it at least one dimension in {feature_source()}."
        )
    got = feature.shape[1:].num_elements()  # 1 if there is no second dimension
    if got is not None and got != math.prod(expected):
        raise WrongFeature(
            f"{where}: Cannot reshape a tensor: the feature {column.key!r} has the shape {feature.shape}, {got} "
            f"number{'' if got == 1 else 's'} per example, and its column reads {math.prod(expected)}. Make it with "
            f"tf.feature_column.numeric_column({column.key!r}, shape={list(feature.shape[1:]) or [1]}), or give "
            f"other numbers in {feature_source()}."
        )


def _is_tensorflows(column: Any) -> bool:
    """Whether a column is one of TensorFlow's classes, whose behaviour is known."""
    return isinstance(column, _Crossed) or type(column).__module__.startswith("tensorflow.python.feature_column.")


def _keys(source: Any) -> Iterator[str]:
    for name in ("key", "weight_feature_key"):
        key = getattr(source, name, None)
        if isinstance(key, str):
            yield key


def _sources(column: Any) -> Iterator[Any]:
    """The columns inside of a column that read features themselves."""
    if any(isinstance(getattr(column, name, None), str) for name in ("key", "weight_feature_key")):
        yield column
    for inside in ("categorical_column", "source_column"):
        inner = getattr(column, inside, None)
        if inner is not None:
            yield from _sources(inner)
    for part in getattr(column, "keys", ()) if isinstance(getattr(column, "keys", None), tuple) else ():
        if isinstance(part, str):
            yield _Crossed(part, column.name)
        else:
            yield from _sources(part)


class _Crossed:
    """A feature that a crossed column reads by its key, without a column of its own."""

    def __init__(self, key: str, name: str) -> None:
        self.key, self.name = key, name
