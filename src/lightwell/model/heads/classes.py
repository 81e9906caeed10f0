"""What heads of classes predict: the classes themselves, by number and by name; and how servers see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.keys import CLASSIFY_SERVING_KEY, DEFAULT_SERVING_SIGNATURE, PREDICT_SERVING_KEY, PredictionKeys
from lightwell.errors import UsageError
from lightwell.model.heads.labels import Vocabulary
from lightwell.model.outputs import ClassificationOutput, ExportOutput, PredictOutput

Makers = Mapping[str, Callable[[], Any]]


def predicted(makers: Makers, keys: Sequence[str] | None, where: str) -> dict[str, Any]:
    """The predictions that `keys` ask for, in their order; all of them if that is None.

    Args:
        makers: for each key a function that makes the tensor.
        keys: some of the keys.
        where: names the head.

    Raises:
        UsageError: a key is unknown.
    """
    for key in makers if keys is None else keys:
        if key not in makers:
            raise UsageError(
                f"{where}: Prediction key must be in PredictionKeys, given: {key}. Valid prediction keys include "
                f"{list(makers)}."
            )
    return {key: makers[key]() for key in (makers if keys is None else keys)}


def class_names(ids: Any, vocabulary: Vocabulary | None) -> Any:
    """Classes by name; without a vocabulary, their numbers as text."""
    return tf.strings.as_string(ids, name="str_classes") if vocabulary is None else vocabulary.names(ids)


def all_class_ids(logits: Any, n_classes: int) -> Any:
    """The numbers of all classes, once for each example: `[batch_size, n_classes]`."""
    return _for_each_example(tf.range(n_classes, dtype=tf.int32), logits)


def all_class_names(logits: Any, n_classes: int, vocabulary: Vocabulary | None) -> Any:
    """The names of all classes, once for each example."""
    names = vocabulary.words if vocabulary is not None else [str(number) for number in range(n_classes)]
    return _for_each_example(tf.constant(names, tf.string), logits)


def classifying_outputs(
    predictions: Mapping[str, Any],
    n_classes: int,
    vocabulary: Vocabulary | None,
    others: Mapping[str, ExportOutput] | None = None,
) -> dict[str, ExportOutput]:
    """The signatures of a classifier: scores and names of the classes; then `others`; then all predictions."""
    scores = predictions[PredictionKeys.PROBABILITIES]
    classes = ClassificationOutput(scores=scores, classes=all_class_names(scores, n_classes, vocabulary))
    return {
        DEFAULT_SERVING_SIGNATURE: classes,
        CLASSIFY_SERVING_KEY: classes,
        **(others or {}),
        PREDICT_SERVING_KEY: PredictOutput(dict(predictions)),
    }


def _for_each_example(row: Any, logits: Any) -> Any:
    return tf.tile(row[tf.newaxis, :], [tf.shape(logits)[0], 1])
