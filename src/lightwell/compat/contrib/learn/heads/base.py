"""`learn.Head`: loss, predictions and metrics of one task, over logits; and what all kinds of heads share."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps
from lightwell.errors import UsageError, WrongType

_v1 = tf.compat.v1
_CENTERED_BIAS = "centered_bias_weight"
_CENTERED_BIAS_RATE = 0.1


def no_op_train_fn(loss: Any) -> Any:
    """A training step that does nothing."""
    del loss
    return tf.no_op()


def expected_step(where: str, mode: str, train_op_fn: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    """The function that makes the training step.

    Raises:
        UsageError: there is none, and it is needed.
    """
    if mode == ModeKeys.TRAIN and train_op_fn is None:
        raise UsageError(f"{where}: train_op_fn can not be None in TRAIN mode.")
    return train_op_fn or no_op_train_fn


class Head(abc.ABC):
    """What a model adds to logits."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many logits an example has."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """The `ModelFnOps` of a model.

        Args:
            features: by name; those with weights are read.
            mode: of `ModeKeys`.
            labels: a tensor, or tensors by name.
            train_op_fn: from the loss to the training step; needed for training.
            logits: `[batch, logits_dimension]`.
            logits_input: the last layer, in their place: a linear layer makes the logits.
            scope: the variable scope.
        """


class SingleHead(Head):
    """A head of one task. A subclass says what the loss, the predictions and the metrics are.

    Args:
        problem: of `ProblemType`.
        logits_dimension: how many logits an example has.
        label_name: the key of the labels, where there are several.
        weight_column_name: the feature with a weight for each example.
        enable_centered_bias: whether to learn a bias of the logits by a step of its own.
        head_name: for the names of its metrics and its scope.
    """

    default_name = "head"

    def __init__(
        self,
        problem: int,
        logits_dimension: int,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ) -> None:
        self._problem = problem
        self._logits_dimension = logits_dimension
        self._label_name = label_name
        self._weights = weight_column_name
        self._has_centered_bias = enable_centered_bias
        self._head_name = head_name

    @property
    def logits_dimension(self) -> int:
        return self._logits_dimension

    @property
    def head_name(self) -> str | None:
        """For the names of its metrics."""
        return self._head_name

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        step_fn = expected_step(type(self).__name__, mode, train_op_fn)
        with _v1.variable_scope(scope, self._head_name or self.default_name):
            outputs = self._checked_logits(logits, logits_input)
            truth = None if mode == ModeKeys.PREDICT else self._processed(self._chosen(labels))
            bias = self._centered_bias() if self._has_centered_bias else None
            if bias is not None:
                outputs = tf.nn.bias_add(outputs, bias)
            predictions = self.predictions(outputs)
            loss, average, train_op, metrics = None, None, None, {}
            if truth is not None:
                weights = self._weights_of(features)
                loss, average = weighted(self.losses(outputs, truth), weights)
                metrics = {self._key(name): pair for name, pair in self.metrics(predictions, truth, weights).items()}
                if self._head_name:
                    metrics[self._key("loss")] = _v1.metrics.mean(average)
                _v1.summary.scalar(self._key("loss"), loss)
            if mode == ModeKeys.TRAIN:
                train_op = step_fn(loss)
                if bias is not None:
                    step = self._centered_bias_step(bias, truth)
                    train_op = tf.group(train_op, step)
            if mode == ModeKeys.EVAL:
                loss = average  # what is reported is the weighted mean
            alternatives = {self._head_name: (self._problem, self.served(predictions))}
            return ModelFnOps(mode, predictions, loss, train_op, metrics, alternatives)

    def losses(self, logits: Any, labels: Any) -> Any:
        """The loss of each example."""
        raise NotImplementedError

    def predictions(self, logits: Any) -> dict[str, Any]:
        """What the model says, by `PredictionKey`."""
        raise NotImplementedError

    def metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        """Metrics beside the loss."""
        return {}

    def served(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """What an export gives."""
        return dict(predictions)

    def _processed(self, labels: Any) -> Any:
        return labels

    def _key(self, name: str) -> str:
        return f"{name}/{self._head_name}" if self._head_name else name

    def _chosen(self, labels: Any) -> Any:
        if isinstance(labels, Mapping):
            if self._label_name is None and len(labels) == 1:
                return next(iter(labels.values()))
            if self._label_name not in labels:
                raise UsageError(
                    f"{type(self).__name__}: label_name is {self._label_name!r}, the labels are: "
                    f"{', '.join(sorted(map(str, labels)))}."
                )
            return labels[self._label_name]
        if labels is None:
            raise UsageError(f"{type(self).__name__}: labels are None; training and evaluation need them.")
        return labels

    def _checked_logits(self, logits: Any, logits_input: Any) -> Any:
        if (logits is None) == (logits_input is None):
            raise UsageError(f"{type(self).__name__}: Exactly one of logits and logits_input must be supplied.")
        if logits is not None:
            return logits
        from lightwell.compat.contrib.layers.fully_connected import linear

        return linear(logits_input, self._logits_dimension, scope="logits")

    def _weights_of(self, features: Any) -> Any:
        if self._weights is None:
            return None
        if not isinstance(features, Mapping) or self._weights not in features:
            raise UsageError(f"{type(self).__name__}: Weights {self._weights} missing from features.")
        return tf.cast(features[self._weights], tf.float32)

    def _centered_bias(self) -> Any:
        with _v1.variable_scope(_v1.get_variable_scope()) as scope:
            scope.set_partitioner(None)
            bias = _v1.get_variable(_CENTERED_BIAS, [self._logits_dimension], initializer=_v1.zeros_initializer())
        for cell in range(self._logits_dimension):
            _v1.summary.scalar(self._key(f"centered_bias/bias_{cell}"), bias[cell])
        return bias

    def _centered_bias_step(self, bias: Any, labels: Any) -> Any:
        """One step of the bias alone, as if it were all of the logits."""
        batch = tf.shape(labels)[0]
        logits = tf.reshape(tf.tile(bias, [batch]), [batch, self._logits_dimension])
        loss = tf.reduce_mean(self.losses(logits, labels), name="centered_bias_loss")
        # The slots stand beside those of the model's optimizer.
        return _v1.train.AdagradOptimizer(_CENTERED_BIAS_RATE).minimize(loss, var_list=(bias,), name="centered_bias")


def weighted(losses: Any, weights: Any) -> tuple[Any, Any]:
    """The loss to train, and the average to report.

    Args:
        losses: of each example.
        weights: of each example, or None.
    """
    if weights is None:
        loss = tf.reduce_mean(losses, name="loss")
        return loss, loss
    while weights.shape.rank is not None and weights.shape.rank < losses.shape.rank:
        weights = tf.expand_dims(weights, -1)
    if weights.shape.rank > losses.shape.rank:
        weights = tf.reshape(weights, [-1] * losses.shape.rank) if losses.shape.rank == 1 else weights
    products = losses * weights
    total = tf.reduce_sum(tf.broadcast_to(weights, tf.shape(products)))
    return tf.reduce_mean(products, name="loss"), tf.math.divide(tf.reduce_sum(products), total)


def column(labels: Any, *, dtype: Any = None) -> Any:
    """Labels as `[batch, 1]` or wider."""
    if isinstance(labels, tf.SparseTensor):
        raise WrongType("SparseTensor is not supported as labels of this head.")
    values = tf.convert_to_tensor(labels)
    values = tf.expand_dims(values, -1) if values.shape.rank == 1 else values
    return values if dtype is None else tf.cast(values, dtype)
