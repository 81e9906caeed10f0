"""From features to points: one matrix of numbers, a row per example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import ModelFnError, WrongType
from lightwell.estimator.canned.columns import check_features
from lightwell.model.feature_columns import input_layer


def points_of(features: Any, columns: tuple[Any, ...] | None, where: str) -> Any:
    """The points, `[batch, dimensions]`.

    Args:
        features: a matrix, or a dict of matrices, which stand side by side in the order of their keys.
        columns: which features to use, and how; for a dict only.
        where: the model, for errors.

    Raises:
        WrongType: features are no float32 numbers.
        ModelFnError: a feature is no matrix.
    """
    if not isinstance(features, Mapping):
        return _checked(features, "features", where)
    if columns is not None:
        check_features(features, columns, where)
        return input_layer(features, list(columns))
    parts = [_checked(features[key], f"the feature {key!r}", where) for key in sorted(features)]
    return tf.concat(parts, axis=1) if len(parts) > 1 else parts[0]


def _checked(values: Any, named: str, where: str) -> Any:
    if isinstance(values, tf.SparseTensor | tf.RaggedTensor):
        raise WrongType(
            f"{where}: {named} must be a dense tensor, got a {type(values).__name__}. Pass feature_columns that make "
            "numbers of it, or convert it in input_fn."
        )
    tensor = tf.convert_to_tensor(values)
    if tensor.dtype != tf.float32:
        raise WrongType(
            f"{where}: {named} must be float32 numbers, got {tensor.dtype.name}: centers and points do not match in "
            "type. In input_fn, use tf.cast(x, tf.float32) or array.astype(np.float32); for words, pass "
            "feature_columns."
        )
    if tensor.shape.rank not in (None, 2):
        raise ModelFnError(
            f"{where}: {named} must be a matrix [batch, dimensions], got the shape {tensor.shape}. A point is a row; "
            "reshape in input_fn, tf.reshape(x, [-1, 1]) for points of one number."
        )
    return tensor
