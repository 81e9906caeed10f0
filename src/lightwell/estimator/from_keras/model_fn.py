"""The model function of an Estimator for a Keras model; the same for every Keras.

The differences between the versions of Keras are behind `KerasModel` and `InGraph`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Protocol

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, ModeKeys
from lightwell.errors import ModelFnError, UnknownFeature, UsageError
from lightwell.estimator.from_keras.matching import (
    Slot,
    matched_inputs,
    matched_labels,
    matched_weights,
    named_outputs,
    split_features,
)
from lightwell.model.interop.trace import KerasTrace, active_trace
from lightwell.model.optimizers import minimize
from lightwell.model.outputs import PredictOutput
from lightwell.model.spec import EstimatorSpec
from lightwell.run.checkpoints.reader import nearest_names


class InGraph(Protocol):
    """A Keras model in one graph."""

    optimizer: Any

    def call(self, inputs: Any) -> Any:
        """The outputs."""

    def loss(self, inputs: Any, labels: Any, outputs: Any, weights: Any, *, training: bool) -> Any:
        """The loss as one number, with all that layers add to it."""

    def metrics(self, inputs: Any, labels: Any, outputs: Any, weights: Any) -> dict[str, Any]:
        """(value, update) pairs by the names that Keras reports."""

    @property
    def trainable_variables(self) -> Sequence[Any]:
        """What the optimizer changes."""


class KerasModel(Protocol):
    """A compiled Keras model, as it was when it was converted.

    Attributes:
        is_built: whether it had weights then.
    """

    is_built: bool

    def in_graph(self, trace: KerasTrace, features: Any) -> AbstractContextManager[InGraph]:
        """The model in the graph that is built now, inside the block."""

    def input_slots(self) -> list[Slot] | None:
        """The inputs; None if the model takes whatever it is called with."""

    def packed_inputs(self, flat: list[Any]) -> Any:
        """Inputs in the structure in which the model takes them."""

    def output_names(self) -> list[str] | None:
        """The names of the outputs; None if the model does not know them."""


class KerasModelFn:
    """A `model_fn` that calls a Keras model.

    Args:
        model: the model.
        metric_names_map: the name of a metric in Keras, to its name in `evaluate`.
        export_outputs: name of an output to the `ExportOutput` class that presents it to a server.
    """

    def __init__(
        self, model: KerasModel, metric_names_map: Mapping[str, str] | None, export_outputs: Mapping[str, Any] | None
    ) -> None:
        self._model = model
        self._metric_names = metric_names_map
        self._exports = export_outputs
        self.__qualname__ = self.__name__ = "model_to_estimator"

    @property
    def starts_at_random(self) -> bool:
        """Whether the first weights are random, and not those of the model."""
        return not self._model.is_built

    def __call__(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        trace = active_trace()
        if trace is None:
            raise ModelFnError(
                "The model_fn of a Keras model builds the graph of an Estimator: call its verbs instead."
            )
        if mode == ModeKeys.EVAL and tf.distribute.get_strategy().num_replicas_in_sync > 1:
            raise UsageError(
                "evaluate: the metrics of a Keras model that was made an Estimator count the batches of one replica, "
                f"and eval_distribute has {tf.distribute.get_strategy().num_replicas_in_sync}. Leave eval_distribute "
                "out of RunConfig; train_distribute may stay."
            )
        features, weights = split_features(features)
        slots = self._model.input_slots()
        inputs = features if slots is None else self._model.packed_inputs(matched_inputs(features, slots))
        with self._model.in_graph(trace, inputs) as model:
            outputs = model.call(inputs)
            predictions = named_outputs(outputs, self._model.output_names())
            exports = self._export_outputs(predictions)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions, export_outputs=exports)
            slots = [Slot(name) for name in predictions]
            targets = None if labels is None else _like(outputs, matched_labels(labels, slots))
            arguments = (
                inputs,
                targets,
                outputs,
                None if weights is None else _like(outputs, matched_weights(weights, slots)),
            )
            loss = tf.convert_to_tensor(model.loss(*arguments, training=mode == ModeKeys.TRAIN))
            if mode == ModeKeys.EVAL:
                metrics = renamed(model.metrics(*arguments), self._metric_names)
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics, export_outputs=exports)
            train_op = minimize(_for_this_graph(model.optimizer), loss, model.trainable_variables)
            return EstimatorSpec(mode, predictions, loss, train_op, export_outputs=exports)

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """All outputs in the default signature, and one more for each requested output."""
        exports: dict[str, Any] = {DEFAULT_SERVING_SIGNATURE: PredictOutput(predictions)}
        requested = self._exports or {}
        missing = [name for name in requested if name not in predictions]
        if missing:
            raise UnknownFeature(
                missing[0],
                f"The list passed into {list(predictions)} does not cover requested {sorted(requested)} keys defined "
                f"in the keras model.\n\tMissed keys: {sorted(missing)}\nThe keys of export_outputs are names of the "
                f"model's outputs. For {missing[0]!r}: {nearest_names(missing[0], predictions)}",
            )
        return exports | {name: kind(predictions[name]) for name, kind in requested.items()}


def renamed(metrics: dict[str, Any], names: Mapping[str, str] | None) -> dict[str, Any]:
    """The metrics under the names that the user wants.

    Raises:
        UsageError: `names` does not name each metric once.
    """
    if names is None:
        return metrics
    unknown = [name for name in names if name not in metrics]
    if unknown:
        raise UsageError(
            "Invalid `metric_names_map`. There are unexpected keys in the `metric_names_map` dictionary. "
            f"Expected keys: {sorted(metrics)}, Received: {unknown}. "
            f"For {unknown[0]!r}: {nearest_names(str(unknown[0]), metrics)}"
        )
    left = [name for name in metrics if name not in names]
    if left:
        raise UsageError(
            f'Invalid `metric_names_map`. The following keras model metric names:"{left}" do not exist in the '
            f"`metric_names_map` dictionary, which has {sorted(names)}. Name every metric of the model in it."
        )
    return {names[name]: metric for name, metric in metrics.items()}


def _like(outputs: Any, flat: list[Any]) -> Any:
    return tf.nest.pack_sequence_as(outputs, flat)


def _for_this_graph(optimizer: Any) -> Any:
    if optimizer is None:
        raise UsageError(
            "model_to_estimator: the Keras model was compiled without an optimizer, so it cannot be trained. Name one "
            "in model.compile(optimizer=...) before calling model_to_estimator."
        )
    # A v1 optimizer stores the variables of each graph, so each graph gets a copy.
    return copy.deepcopy(optimizer) if isinstance(optimizer, tf.compat.v1.train.Optimizer) else optimizer


def refuse_without_loss(name: str) -> NoReturn:
    """Raises the error for a model without a loss."""
    raise UsageError(
        f"model_to_estimator: the Keras model {name!r} has no loss to optimize: it was compiled without one, and no "
        "layer adds any. Name it in model.compile(loss=...) before calling model_to_estimator. predict works as it is."
    )
