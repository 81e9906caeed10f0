"""Errors about feature columns, with the way out.

Owns `explained`, which lets TensorFlow's own errors gain a sentence of ours, `wrap_hint`, that sentence, and
`without_warnings`, which leaves out what TensorFlow says about itself. The type
of an error never changes, and TensorFlow's text stays in front.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from lightwell.base.log import without_deprecations
from lightwell.foreign import private_tf

_RAW_CATEGORICAL = "You can wrap a categorical column"
_SHARED_IN_A_FUNCTION = "SharedEmbeddingColumns are not supported"


@contextlib.contextmanager
def explained(feature_columns: Any) -> Iterator[None]:
    """Adds what to do to the errors that TensorFlow raises about `feature_columns` inside the `with` block."""
    try:
        yield
    except ValueError as error:
        hint = _hint(str(error), feature_columns)
        if not hint or hint in str(error):
            raise
        raise type(error)(f"{error} {hint}") from error


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Leaves out what TensorFlow warns of about its own way of making the weights of columns: nothing that a caller
    could change."""
    with without_deprecations(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="`layer.add_variable` is deprecated", category=UserWarning)
        yield


def wrap_hint(column_name: str) -> str:
    """What to do with a categorical column where dense ones are wanted."""
    return (
        f"Lightwell: wrap the column '{column_name}' with tf.feature_column.indicator_column(...) or "
        "embedding_column(..., dimension=...)"
    )


def is_raw_categorical(column: Any) -> bool:
    """Whether a column gives categories, not numbers, as it stands."""
    base = private_tf.feature_columns()
    dense = isinstance(column, base.DenseColumn | base.SequenceDenseColumn)
    return hasattr(type(column), "num_buckets") and not dense


def _hint(text: str, feature_columns: Any) -> str:
    if _RAW_CATEGORICAL in text:
        columns = [feature_columns] if hasattr(feature_columns, "name") else feature_columns
        raw = [column for column in columns if is_raw_categorical(column)]
        return wrap_hint(raw[0].name) if raw else ""
    if _SHARED_IN_A_FUNCTION in text:
        return (
            "Lightwell: call lightwell.feature_columns.DenseFeatures(columns)(features), or make the columns with "
            "tf.compat.v1.feature_column.shared_embedding_columns(...)"
        )
    return ""
