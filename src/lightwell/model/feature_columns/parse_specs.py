"""How to parse the `tf.train.Example`s that hold a model's features, its label and, where it has one, its weights.

Owns `classifier_parse_example_spec` and `regressor_parse_example_spec`. Takes feature columns, gives the dict that
`tf.io.parse_example` and `tf.data.experimental.make_batched_features_dataset` take.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError

v1 = tf.compat.v1


def classifier_parse_example_spec(
    feature_columns: Any,
    label_key: Any,
    label_dtype: Any = tf.int64,
    label_default: Any = None,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Say how to parse the examples of a classifier.

        spec = classifier_parse_example_spec([tf.feature_column.numeric_column("age")], "bought")
        tf.data.experimental.make_batched_features_dataset(pattern, 32, spec, label_key="bought")

    Args:
        feature_columns: those of the model, made by `tf.feature_column`.
        label_key: the name of the label in an example.
        label_dtype: `tf.int64`, or `tf.string` for a classifier with a vocabulary of labels.
        label_default: the label of an example that has none; None makes that an error.
        weight_column: the name of a feature with the weight of each example, or a numeric column.

    Returns:
        A dict from each key of an example to a `tf.io.FixedLenFeature` or `VarLenFeature`.

    Raises:
        ValueError: the label, or the weight, is a feature of the model too; or `weight_column` is no numeric column.
    """
    label = tf.io.FixedLenFeature((1,), label_dtype, label_default)
    return _parse_example_spec("classifier_parse_example_spec", feature_columns, label_key, label, weight_column)


def regressor_parse_example_spec(
    feature_columns: Any,
    label_key: Any,
    label_dtype: Any = tf.float32,
    label_default: Any = None,
    label_dimension: int = 1,
    weight_column: Any = None,
) -> dict[str, Any]:
    """Say how to parse the examples of a regressor.

    Args:
        feature_columns: those of the model, made by `tf.feature_column`.
        label_key: the name of the label in an example.
        label_dtype: the type of the label.
        label_default: the label of an example that has none, `label_dimension` numbers; None makes that an error.
        label_dimension: the number of values in a label.
        weight_column: the name of a feature with the weight of each example, or a numeric column.

    Returns:
        A dict from each key of an example to a `tf.io.FixedLenFeature` or `VarLenFeature`.

    Raises:
        ValueError: the label, or the weight, is a feature of the model too; or `weight_column` is no numeric column.
    """
    label = tf.io.FixedLenFeature((label_dimension,), label_dtype, label_default)
    return _parse_example_spec("regressor_parse_example_spec", feature_columns, label_key, label, weight_column)


def _parse_example_spec(
    where: str, feature_columns: Any, label_key: Any, label: Any, weight_column: Any
) -> dict[str, Any]:
    spec = _features(where, list(feature_columns))
    if label_key in spec:
        raise UsageError(
            f"{where}: label should not be used as feature. label_key: {label_key}, features: {spec.keys()}. Leave its "
            "column out of feature_columns, or pass another label_key."
        )
    spec[label_key] = label
    if weight_column is None:
        return spec
    if isinstance(weight_column, str):
        weight_column = tf.feature_column.numeric_column(weight_column)
    if not isinstance(weight_column, type(tf.feature_column.numeric_column("w"))):
        raise UsageError(
            f"{where}: weight_column should be an instance of tf.feature_column.numeric_column. Given type: "
            f"{type(weight_column)} value: {weight_column}. Pass the name of the feature, or "
            "tf.feature_column.numeric_column(name)."
        )
    if weight_column.key in spec:
        raise UsageError(
            f"{where}: weight_column should not be used as feature. weight_column: {weight_column.key}, features: "
            f"{spec.keys()}. Leave it out of feature_columns, or weigh by another feature."
        )
    return {**spec, **weight_column.parse_example_spec}


def _features(where: str, columns: list[Any]) -> dict[str, Any]:
    """The features that the columns read, whichever of the two `shared_embedding`s are among them."""
    try:
        spec: dict[str, Any] = tf.feature_column.make_parse_example_spec(columns)
    except ValueError as error:
        try:
            spec = v1.feature_column.make_parse_example_spec(columns)
        except ValueError:
            raise UsageError(
                f"{where}: {error} Pass a list of columns, made by tf.feature_column.numeric_column(key) and its "
                "siblings, in which a key stands for one feature."
            ) from error
    return spec
