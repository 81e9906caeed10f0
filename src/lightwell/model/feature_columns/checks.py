"""Which columns a layer of columns takes.

Owns `checked_columns`: takes what a user passed as `feature_columns`, gives the columns in the order of the output.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lightwell.errors import UsageError
from lightwell.foreign import private_tf
from lightwell.model.feature_columns.hints import is_raw_categorical, wrap_hint


def checked_columns(where: str, feature_columns: Any, expected: type) -> list[Any]:
    """The columns, sorted by name.

    Args:
        where: the layer, for errors.
        feature_columns: a column, or an iterable of columns.
        expected: `DenseColumn` or `SequenceDenseColumn`.

    Raises:
        UsageError: they are no columns, of another kind, none, or two have the same name.
    """
    columns = _as_list(where, feature_columns)
    for column in columns:
        _check_kind(where, column, expected)
    named: dict[str, Any] = {}
    for column in columns:
        if column.name in named:
            raise UsageError(
                f"{where}: Duplicate feature column name '{column.name}', found for columns: {named[column.name]} and "
                f"{column}. Columns of one name stand for the same feature: leave one out, or put a copy of the "
                "feature into features under another key."
            )
        named[column.name] = column
    return [named[name] for name in sorted(named)]


def _as_list(where: str, feature_columns: Any) -> list[Any]:
    if isinstance(feature_columns, private_tf.feature_columns().FeatureColumn):
        return [feature_columns]
    if isinstance(feature_columns, Mapping | str) or not isinstance(feature_columns, Iterable):
        raise UsageError(
            f"{where}: Expected feature_columns to be a list of columns, found {type(feature_columns).__name__}. "
            "Pass [column, ...]; for a dict of columns, its values()."
        )
    columns = list(feature_columns)
    if not columns:
        raise UsageError(f"{where}: feature_columns must not be empty. Pass at least one column.")
    return columns


def _check_kind(where: str, column: Any, expected: type) -> None:
    if isinstance(column, expected):
        return
    got = f"Given (type {type(column).__name__}): {column}."
    if not isinstance(column, private_tf.feature_columns().FeatureColumn):
        if hasattr(column, "shared_embedding_collection_name"):
            advice = "Make shared columns with tf.feature_column.shared_embeddings(...) to use them in this layer."
        else:
            advice = "Make columns with tf.feature_column.numeric_column(key) and its siblings."
        raise UsageError(f"{where}: Items of feature_columns must be a FeatureColumn. {got} {advice}")
    text = f"{where}: Items of feature_columns must be a {expected.__name__}. {got}"
    if is_raw_categorical(column):
        raise UsageError(f"{text} {wrap_hint(column.name)}")
    other = "SequenceFeatures" if expected is private_tf.feature_columns().DenseColumn else "DenseFeatures"
    raise UsageError(f"{text} This column belongs into {other}.")
