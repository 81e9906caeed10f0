"""Export outputs: how a model's tensors are presented to a server, one class per kind of signature.

Owns the values, their checks, and the signature that each becomes (`as_signature_def`). They stand this far left so
that heads and `EstimatorSpec` can use them without knowing how a SavedModel is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from lightwell.errors import UsageError, WrongKind, WrongType

_saved_model = tf.compat.v1.saved_model


class ExportOutput:
    """Base of all export outputs; one of your own brings its `as_signature_def`."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The signature with these outputs.

        Args:
            receiver_tensors: what a server feeds, by name.

        Returns:
            A `SignatureDef` proto.
        """
        raise NotImplementedError(f"{type(self).__name__} has no as_signature_def: write it there.")


class ClassificationOutput(ExportOutput):
    """Output of a classifier: `scores`, `classes`, or both.

    Args:
        scores: float tensor, one score per class.
        classes: string tensor of class labels.
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is None and classes is None:
            raise UsageError(
                "Cannot create a ClassificationOutput with empty arguments. At least one of `scores` and `classes` "
                "must be defined, got neither."
            )
        if scores is not None and not (tf.is_tensor(scores) and scores.dtype.is_floating):
            raise UsageError(
                f"ClassificationOutput: Classification scores must be a float32 Tensor; got {scores!r}. Cast numbers "
                "of another type with tf.cast(scores, tf.float32)."
            )
        if classes is not None and not (tf.is_tensor(classes) and classes.dtype == tf.string):
            raise UsageError(
                f"ClassificationOutput: Classification classes must be a string Tensor; got {classes!r}. Make one of "
                "numbers with tf.as_string(classes)."
            )
        self.scores = scores
        self.classes = classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The classification signature, fed with serialised examples."""
        examples = _examples("Classification", receiver_tensors)
        return _saved_model.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """Output of a regressor.

    Args:
        value: float tensor with the predicted values.
    """

    def __init__(self, value: Any) -> None:
        if not (tf.is_tensor(value) and value.dtype.is_floating):
            raise UsageError(
                f"RegressionOutput: Regression output value must be a float32 Tensor; got {value!r}. Cast numbers of "
                "another type with tf.cast(value, tf.float32)."
            )
        self.value = value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The regression signature, fed with serialised examples."""
        return _saved_model.regression_signature_def(_examples("Regression", receiver_tensors), self.value)


class PredictOutput(ExportOutput):
    """Output with any tensors, by name.

    Args:
        outputs: a tensor, or a dict of tensors by name.
    """

    _SINGLE = "output"

    def __init__(self, outputs: Any) -> None:
        named: Mapping[Any, Any] = outputs if isinstance(outputs, Mapping) else {self._SINGLE: outputs}
        self.outputs = {_name(key): _tensor(key, value) for key, value in named.items()}

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The prediction signature, fed with any tensors."""
        return _saved_model.predict_signature_def(dict(_named("Prediction", receiver_tensors)), self.outputs)


class _SupervisedOutput(ExportOutput):
    """Output of a graph that is fed with labels too: the loss, predictions and metrics, by name.

    Args:
        loss: a tensor, or a dict of tensors by name.
        predictions: likewise.
        metrics: a `(value, update_op)` pair, or a dict of pairs by name; an `update_op` may be an operation.
    """

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"
    _method_name = ""

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self.loss = _prefixed(self.LOSS_NAME, loss)
        self.predictions = _prefixed(self.PREDICTIONS_NAME, predictions)
        self.metrics = None if metrics is None else self._pairs_apart(metrics)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The signature with all of them, fed with features and labels."""
        outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        signature = _saved_model.predict_signature_def(dict(receiver_tensors), outputs)
        signature.method_name = self._method_name
        return signature

    def _pairs_apart(self, metrics: Any) -> dict[str, Any]:
        named = metrics if isinstance(metrics, Mapping) else {self.METRICS_NAME: metrics}
        apart = {}
        for key, pair in named.items():
            name = _with_prefix(self.METRICS_NAME, key)
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise WrongKind(
                    f"{type(self).__name__}: {name} must be a (value, update_op) pair, as tf.compat.v1.metrics.* "
                    f"return; got {pair!r}."
                )
            value, update = pair
            if not tf.is_tensor(value):
                raise UsageError(f"{name} output value must be a Tensor; got {value!r}.")
            apart[f"{name}/{self.METRIC_VALUE_SUFFIX}"] = value
            apart[f"{name}/{self.METRIC_UPDATE_SUFFIX}"] = _update_tensor(name, update)
        return apart


class TrainOutput(_SupervisedOutput):
    """Output of a graph that trains."""

    _method_name = "tensorflow/supervised/training"


class EvalOutput(_SupervisedOutput):
    """Output of a graph that evaluates."""

    _method_name = "tensorflow/supervised/eval"


def _prefixed(prefix: str, values: Any) -> dict[str, Any] | None:
    """Tensors by the names they have in a signature: `predictions/logits`, or the prefix alone for a single one."""
    if values is None:
        return None
    named = (
        {_with_prefix(prefix, key): value for key, value in values.items()} if isinstance(values, Mapping) else values
    )
    outputs = named if isinstance(named, dict) else {prefix: named}
    for value in outputs.values():
        if not tf.is_tensor(value):
            raise UsageError(f"{prefix} output value must be a Tensor; got {value!r}.")
    return outputs


def _with_prefix(prefix: str, key: Any) -> str:
    name = "/".join(key) if isinstance(key, tuple) and all(isinstance(part, str) for part in key) else key
    if not isinstance(name, str):
        raise UsageError(f"{prefix} output key must be a string; got {key!r}.")
    return name if name == prefix or name.startswith(f"{prefix}/") else f"{prefix}/{name}"


def _update_tensor(name: str, update: Any) -> Any:
    """A tensor that updates a metric when it is asked for: a signature holds no operations."""
    if isinstance(update, tf.Tensor):
        return update
    if not (isinstance(update, tf.Operation | tf.Variable)):
        raise UsageError(f"{name} update_op must be a Tensor or Operation; got {update!r}.")
    with tf.control_dependencies([update if isinstance(update, tf.Operation) else update.op]):
        return tf.constant([], name="metric_op_wrapper")


def _name(key: Any) -> str:
    if isinstance(key, tuple) and all(isinstance(part, str) for part in key):
        return "/".join(key)  # heads of several parts name their outputs so
    if not isinstance(key, str):
        raise UsageError(f"PredictOutput: Prediction output key must be a string; got {key!r}.")
    return key


def _tensor(key: Any, value: Any) -> Any:
    if isinstance(value, tf.SparseTensor) or not tf.is_tensor(value):
        raise UsageError(f"PredictOutput: outputs[{key!r}]: Prediction output value must be a Tensor; got {value!r}.")
    return value


def _named(kind: str, receiver_tensors: Any) -> Mapping[str, Any]:
    if not isinstance(receiver_tensors, Mapping):
        raise WrongType(f"{kind} signatures take the tensors that are fed as a dict by name, got {receiver_tensors!r}.")
    return receiver_tensors


def _examples(kind: str, receiver_tensors: Mapping[str, Any]) -> Any:
    tensors = list(_named(kind, receiver_tensors).values())
    if len(tensors) != 1 or isinstance(tensors[0], tf.SparseTensor) or tensors[0].dtype != tf.string:
        raise UsageError(
            f"{kind} signatures can only accept a single tensor input of type tf.string, got "
            f"{dict(receiver_tensors)!r}. Let the receiver have one string placeholder and take the features out of it "
            "with tf.io.parse_example; or use PredictOutput, which takes any."
        )
    return tensors[0]
