"""Calls of `classifier_parse_example_spec` and `regressor_parse_example_spec`, and what comes of them as plain values.

Each scene is handed the face of an Estimator module: that of tf.estimator 2.15.1, or ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

v1 = tf.compat.v1
fc = tf.feature_column
Scene = Callable[[Any], Any]


def _number() -> Any:
    return fc.numeric_column("a")


def _words(key: str = "c") -> Any:
    return fc.categorical_column_with_vocabulary_list(key, ["x", "y"])


def _classifier(*given: Any, **settings: Any) -> Scene:
    return lambda face: face.classifier_parse_example_spec(*given, **settings)


def _regressor(*given: Any, **settings: Any) -> Scene:
    return lambda face: face.regressor_parse_example_spec(*given, **settings)


_MIXED = [_number(), fc.embedding_column(_words(), 2), fc.crossed_column(["p", "q"], 10)]
GIVEN: dict[str, Scene] = {
    "classifier": _classifier(_MIXED, "y"),
    "classifier, all by position": _classifier(_MIXED, "y", tf.string, "none", "w"),
    "classifier, text": _classifier(_MIXED, "y", label_dtype=tf.string),
    "classifier, a default": _classifier([_number()], "y", label_default=0),
    "classifier, weights": _classifier([_number()], "y", weight_column="w"),
    "classifier, a column of weights": _classifier(
        [_number()], "y", weight_column=fc.numeric_column("w", shape=2, default_value=1.0)
    ),
    "classifier, no columns": _classifier([], "y"),
    "classifier, a set": _classifier({_number()}, "y"),
    "classifier, a categorical column": _classifier([_words()], "y"),
    "classifier, weighted categories": _classifier([fc.weighted_categorical_column(_words(), "cw")], "y"),
    "classifier, a sequence": _classifier(
        [fc.embedding_column(fc.sequence_categorical_column_with_identity("s", 3), 2)], "y"
    ),
    "regressor": _regressor(_MIXED, "y"),
    "regressor, all by position": _regressor(_MIXED, "y", tf.int64, 3, 2, "w"),
    "regressor, dimensions": _regressor([_number()], "y", label_dimension=3),
    "regressor, dimensions and a default": _regressor(
        [_number()], "y", label_dimension=3, label_default=[0.0, 1.0, 2.0]
    ),
    "regressor, a type": _regressor([_number()], "y", label_dtype=tf.int64),
    "regressor, weights": _regressor([_number()], "y", weight_column="w"),
}
# With the words that stay.
REFUSED: dict[str, tuple[Scene, str]] = {
    "the label is a feature": (
        _classifier([_number()], "a"),
        "label should not be used as feature. label_key: a, features: dict_keys(['a'])",
    ),
    "the label is a feature of a regressor": (
        _regressor([_number()], "a", weight_column="a"),
        "label should not be used as feature. label_key: a, features: dict_keys(['a'])",
    ),
    "the weight is a feature": (
        _classifier([_number()], "y", weight_column="a"),
        "weight_column should not be used as feature. weight_column: a, features: dict_keys(['a', 'y'])",
    ),
    "the weight is the label": (
        _regressor([_number()], "y", weight_column=fc.numeric_column("y")),
        "weight_column should not be used as feature. weight_column: y, features: dict_keys(['a', 'y'])",
    ),
    "the weight is a number": (
        _classifier([_number()], "y", weight_column=3),
        "weight_column should be an instance of tf.feature_column.numeric_column. Given type: <class 'int'> value: 3",
    ),
    "the weight is in buckets": (
        _regressor([_number()], "y", weight_column=fc.bucketized_column(fc.numeric_column("w"), [1.0])),
        "weight_column should be an instance of tf.feature_column.numeric_column. Given type: <class 'tensorflow.",
    ),
    "names for columns": (_classifier(["a"], "y"), "FeatureColumn instances. Given: a"),
    "a column alone": (_regressor(_number(), "y"), "FeatureColumn instances. Given: a"),
    "one key, two shapes": (
        _classifier([_number(), fc.numeric_column("a", shape=2)], "y"),
        "feature_columns contain different parse_spec for key a. Given FixedLenFeature(shape=(2,)",
    ),
    "nothing for columns": (_classifier(None, "y"), "'NoneType' object is not iterable"),
}


def shared(face: Any, make: Callable[..., Any]) -> Any:
    """The specification of a classifier over columns that share an embedding, in a graph of their own."""
    with tf.Graph().as_default():
        return plain(face.classifier_parse_example_spec(make([_words("c"), _words("d")], 2), "y"))


def plain(spec: Any) -> Any:
    """A specification as text, in its order."""
    return [[key, repr(feature)] for key, feature in spec.items()]


def refusal(scene: Scene, face: Any) -> Any:
    """The exception of Python that a call ended with, and its text."""
    try:
        return plain(scene(face))
    except Exception as error:
        kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return [kind, str(error)]
