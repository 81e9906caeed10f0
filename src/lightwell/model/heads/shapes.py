"""The shapes of what a head is given: logits, dense labels and weights, each brought to the shape of the others.

What is known when the graph is built is checked there, the rest by the step. `where` names the head in the messages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import UnknownFeature, UsageError, WrongKind, WrongType, near
from lightwell.model.heads.check import DoesNotFit, require_shape

_CHECK_LABELS = (
    "Suggested Fix: check your n_classes argument to the head and/or the shape of your label "
    "(label_dimension, for a regression)."
)


def checked_logits(logits: Any, dimension: int, where: str) -> Any:
    """The logits as float32, of shape `[D0, D1, ... DN, dimension]`."""
    if logits is None:
        raise UsageError(f"{where}: logits must be a Tensor of shape [D0, D1, ... DN, {dimension}], got None.")
    logits = tf.cast(tf.convert_to_tensor(logits), tf.float32)
    shape = logits.shape
    if shape.rank is not None and shape.rank < 2:
        raise UsageError(
            f"{where}: logits shape must be [D0, D1, ... DN, logits_dimension]: logits must have rank at least 2.  "
            f"Received rank {shape.rank}, shape {tuple(shape)}. Make them [batch_size, {dimension}], for example with "
            f"a Dense layer of {dimension} units."
        )
    text = f"{where}: logits shape must be [D0, D1, ... DN, logits_dimension], with logits_dimension={dimension}"
    if shape.rank is not None and shape[-1] is not None:
        if shape[-1] != dimension:
            raise UsageError(f"{text}, got {tuple(shape)}. Let the last layer have head.logits_dimension units.")
        return logits
    return require_shape(logits, logits, dimension, f"{text}.")


def present(labels: Any, where: str) -> Any:
    """The labels, which must be there."""
    if labels is None:
        raise UsageError(
            f"{where}: You must provide a labels Tensor. Given: None. Suggested troubleshooting steps: Check that your "
            "data contains your label feature. Check that your input_fn properly parses and returns labels."
        )
    if isinstance(labels, Mapping):
        raise WrongKind(
            f"{where}: labels must be a Tensor, got a dict with {sorted(labels)}. Pick one of them: labels[name]; or "
            "give each to a head of its own, with MultiHead."
        )
    return labels


def dense_labels(labels: Any, logits: Any, dimension: int, where: str) -> Any:
    """Labels with the shape of the logits, but `dimension` at the end. Where that is 1, it may be missing."""
    labels = present(labels, where)
    if isinstance(labels, tf.SparseTensor | tf.RaggedTensor):
        raise UsageError(
            f"{where}: {type(labels).__name__} labels are not supported. Labels must be a Tensor of shape "
            f"[D0, D1, ..., DN, {dimension}], e.g. [batch_size, {dimension}]. Suggested Fix (1): Check the label "
            f"feature in your data. Each example must contain {dimension} value(s). If not, your choice of label was "
            "probably incorrect. Suggested Fix (2): In your input_fn, use tf.sparse.to_dense() (labels.to_tensor(), if "
            "they are ragged) to turn labels into a Tensor."
        )
    labels = tf.convert_to_tensor(labels)
    rank = labels.shape.rank
    if rank is None:
        labels = _with_last_dimension(labels, logits)
    elif rank == 1 or rank == _rank(logits) - 1:
        labels = tf.expand_dims(labels, -1)
    last = labels.shape[-1] if labels.shape.rank else None
    if last is not None and last != dimension:
        raise DoesNotFit(
            f"{where}: Mismatched label shape. Expected labels dimension={dimension}.  Received {last}. Suggested Fix: "
            "If your classifier expects one-hot encoding label, check your n_classes argument to the estimator and/or "
            "the shape of your label. Otherwise, check the shape of your label. Labels that are one-hot become class "
            f"indices with tf.argmax(labels, -1). The labels have the shape {tuple(labels.shape)}."
        )
    text = f"{where}: labels shape must be [D0, D1, ... DN, {dimension}]."
    if labels.shape.rank is not None and labels.shape.rank < 2:
        text = f"{text} labels must have rank at least 2, received rank {labels.shape.rank}."
    return _alike(labels, logits, dimension, text, _CHECK_LABELS, "labels")


def _alike(value: Any, logits: Any, dimension: int, text: str, advice: str, name: str) -> Any:
    """`value`, whose shape must be that of the logits but for the last dimension."""
    expected = logits.shape[:-1].concatenate(dimension)
    if not value.shape.is_compatible_with(expected):
        raise DoesNotFit(
            f"{text} {advice} expected_{name}_shape: {tuple(expected)}. {name}_shape: {tuple(value.shape)}."
        )
    if value.shape.is_fully_defined() and expected.is_fully_defined():
        return value
    return require_shape(value, logits, dimension, f"{text} {advice}")


def weights_of(features: Any, weight_column: Any, logits: Any, where: str, *, per_logit: bool = False) -> Any:
    """The weight of each example, `[D0, D1, ... DN, 1]`; 1.0 without a weight column.

    Args:
        features: the batch's features by name.
        weight_column: the name of a feature, a numeric column, or None.
        logits: the logits, checked.
        where: names the head.
        per_logit: whether each logit may have a weight of its own: `[D0, D1, ... DN, logits_dimension]`.
    """
    if weight_column is None:
        return 1.0
    weights = tf.cast(_weight_feature(features, weight_column, where), tf.float32)
    rank, dimension = weights.shape.rank, logits.shape[-1]
    if rank is None:
        weights = _with_last_dimension(weights, logits)
    elif rank == 1 or rank == _rank(logits) - 1:
        weights = tf.expand_dims(weights, -1)
    kinds = "[D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if per_logit:
        kinds = "[D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
    text = f"{where}: weights shape must be {kinds}, logits_shape: {_shown(logits.shape)}."
    advice = "Give each example one number in input_fn."
    is_per_logit = per_logit and dimension != 1 and weights.shape.rank is not None and weights.shape[-1] == dimension
    return _alike(weights, logits, dimension if is_per_logit else 1, text, advice, "weights")


def _weight_feature(features: Any, column: Any, where: str) -> Any:
    is_column = not isinstance(column, str)
    if is_column and not (hasattr(column, "key") and hasattr(column, "normalizer_fn")):
        raise WrongType(
            f"{where}: Weight column must be either a string or NumericColumn. Given type: {type(column)}. Make one "
            "with tf.feature_column.numeric_column(name)."
        )
    key = column.key if is_column else column
    if not isinstance(features, Mapping):
        raise UsageError(
            f"{where}: weight_column={key!r} needs features as a dict by name, got {type(features).__name__}. Give the "
            "head the features that input_fn returned."
        )
    if key not in features:
        raise UnknownFeature(
            key,
            f"{where}: Feature {key} is not in features dictionary. The weight_column of the head asks for it; there "
            f"are {sorted(map(str, features))}.{near(key, features)} Let input_fn return it, or leave weight_column "
            "out.",
        )
    value = features[key]
    if isinstance(value, tf.SparseTensor | tf.RaggedTensor):
        raise UsageError(
            f"{where}: The corresponding Tensor of numerical column must be a Tensor. {type(value).__name__} is not "
            f"supported. key: {key}. Weights are dense: one number for each example."
        )
    value = tf.convert_to_tensor(value)
    if value.dtype == tf.string:
        raise UsageError(f"{where}: the weights in features[{key!r}] must be numbers, got strings.")
    if value.shape.rank == 0:
        raise UsageError(f"{where}: Feature (key: {key}) cannot have rank 0. Given: {value}. One weight per example.")
    return column.normalizer_fn(value) if is_column and column.normalizer_fn is not None else value


def _shown(shape: Any) -> str:
    return "unknown" if shape.rank is None else str(tuple(shape))


def _rank(logits: Any) -> int:
    return 0 if logits.shape.rank is None else int(logits.shape.rank)


def _with_last_dimension(value: Any, logits: Any) -> Any:
    """A tensor of unknown rank, with a last dimension of 1 where it has one less than the logits."""
    has_one_less = tf.equal(tf.rank(value), tf.rank(logits) - 1)
    shape = tf.shape(value)
    return tf.reshape(value, tf.cond(has_one_less, lambda: tf.concat([shape, [1]], axis=0), lambda: shape))
