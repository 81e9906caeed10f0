"""Features against feature columns, before TensorFlow meets them.

Owns what a canned model asks of its input: that features are a dict, that each column finds its features, of a type
that it can read, and its vocabulary file. Says so with names, before anything is computed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import ModelFileError, ModelFnError, UnknownFeature, UsageError, WrongType


def column_list(feature_columns: Any, where: str, argument: str = "feature_columns") -> tuple[Any, ...]:
    """The columns that a user gave, as a tuple.

    Raises:
        UsageError: there are none, or they are no columns.
    """
    if isinstance(feature_columns, Mapping | str) or not (
        isinstance(feature_columns, Iterable) or hasattr(feature_columns, "name")
    ):
        raise UsageError(
            f"{where}: {argument} must be a list of feature columns, got {type(feature_columns).__name__} "
            f"{feature_columns!r}. Pass [tf.feature_column.numeric_column('age'), ...]."
        )
    columns = (feature_columns,) if hasattr(feature_columns, "name") else tuple(feature_columns)
    if not columns:
        raise UsageError(f"{where}: {argument} must not be empty. Pass at least one column.")
    for column in columns:
        if not hasattr(column, "name") or isinstance(column, str):
            raise UsageError(
                f"{where}: {argument} must hold feature columns only (FeatureColumn), got {column!r} "
                f"({type(column).__name__}). For the feature of that name, write "
                "tf.feature_column.numeric_column(key) or one of its siblings."
            )
    return columns


def check_features(features: Any, columns: Iterable[Any], where: str) -> None:
    """Refuses features that the columns cannot read.

    Raises:
        ModelFnError: features are no dict.
        UnknownFeature: a column's feature is not among them.
        WrongType: a feature has a type that its column cannot read.
        ModelFileError: a vocabulary file is not there.
    """
    if not isinstance(features, Mapping):
        raise ModelFnError(
            f"{where}: features should be a dictionary of `Tensor`s. Given type: {type(features)}. Let input_fn give "
            "{'age': ages, ...}: each feature column looks its feature up by key."
        )
    for column in columns:
        for source in _sources(column):
            _check_source(features, source, column, where)


def _check_source(features: Mapping[str, Any], source: Any, column: Any, where: str) -> None:
    for key in _keys(source):
        if key not in features:
            close = difflib.get_close_matches(key, [str(one) for one in features], n=3, cutoff=0.5)
            near = f" Near to it: {close}." if close else ""
            raise UnknownFeature(
                key,
                f"{where}: Feature {key} is not in features dictionary. The column {column.name!r} reads it; input_fn "
                f"gave {sorted(map(str, features))}.{near}",
            )
        _check_type(features[key], key, source, where)
    path = getattr(source, "vocabulary_file", None)
    if path is not None and tf.is_tensor(path) is False and not tf.io.gfile.exists(path):
        raise ModelFileError(
            f"{where}: vocabulary_file in {source.name} does not exist: {path!r}. The column {column.name!r} looks its "
            "words up in it: restore the file, or make the column with a path that is readable from here."
        )


def _check_type(feature: Any, key: str, source: Any, where: str) -> None:
    wanted, got = getattr(source, "dtype", None), getattr(feature, "dtype", None)
    if wanted is None or got is None:
        return
    wanted, got = tf.as_dtype(wanted), tf.as_dtype(got)
    is_words, are_words = wanted == tf.string, got == tf.string
    if is_words == are_words and (wanted.is_floating or is_words or got.is_integer):
        return
    kind = type(source).__name__
    if wanted.is_floating:
        advice = f"Convert it in input_fn: tf.strings.to_number({key!r}), or use a categorical column for words."
    else:
        advice = f"Convert it in input_fn, or make the column with dtype=tf.{got.name}."
    raise WrongType(
        f"{where}: Column dtype and tensor dtype must be compatible. key: {key}, column dtype: {wanted.name}, tensor "
        f"dtype: {got.name}. The column {source.name!r} ({kind}) cannot read it. {advice}"
    )


def _keys(source: Any) -> Iterator[str]:
    for name in ("key", "weight_feature_key"):
        found = getattr(source, name, None)
        if isinstance(found, str):
            yield found


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
