"""A compiled model of `tf_keras`, the Keras before version 3, as the `model_fn` of an Estimator needs it.

Its variables belong to one graph, so each graph gets a copy of the model, created from its config, whose variables
start from the weights at the time of the conversion. Loss and metrics are created from the arguments of `compile`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import LOSS
from lightwell.errors import UsageError
from lightwell.estimator.from_keras.matching import Slot
from lightwell.estimator.from_keras.model_fn import InGraph, refuse_without_loss
from lightwell.foreign import private_keras
from lightwell.model.interop.initial_values import fixed
from lightwell.model.interop.naming import sibling_names
from lightwell.model.interop.trace import KerasTrace

_STEPS = ("train_step", "test_step", "predict_step")
_v1 = tf.compat.v1


class LegacyModel:
    """The model, with its weights and settings at the time of the conversion.

    Args:
        model: a compiled `tf_keras.Model`.
        custom_objects: classes and functions by name, for layers that are created from their config.

    Raises:
        UsageError: the model has a step of its own.
    """

    def __init__(self, model: Any, custom_objects: Mapping[str, Any]) -> None:
        self._keras = private_keras.legacy_keras()
        self._model = model
        own = [step for step in _STEPS if getattr(type(model), step) is not getattr(self._keras.Model, step)]
        if own:
            raise UsageError(
                f"model_to_estimator: the Keras model {model.name!r} ({type(model).__name__}) has a "
                f"{' and a '.join(own)} of its own, which an Estimator does not run. Call the model in a model_fn that "
                "does what the step does."
            )
        self._scope = dict(custom_objects)
        self._compiled_with = private_keras.legacy_compile_arguments(model)
        self._containers = type(model.compiled_loss), type(model.compiled_metrics)
        self._is_functional = isinstance(model, self._keras.Sequential) or private_keras.legacy_is_functional(model)
        self.is_built = bool(model.built)
        self._weights = model.get_weights() if self.is_built else None

    @contextlib.contextmanager
    def in_graph(self, trace: KerasTrace, features: Any) -> Iterator[InGraph]:
        """A copy of the model in the graph of `trace`."""
        with self._keras.utils.custom_object_scope(self._scope):
            copy = self._copy(features)
            if self._is_functional:
                trace.names.name_siblings(copy.layers)
            yield _InGraph(self, copy, trace)

    def input_slots(self) -> list[Slot] | None:
        """The model's inputs; None if it takes whatever it is called with."""
        if not self._is_functional:
            return None
        names = getattr(self._model, "input_names", None) or [f"{self._model.layers[0].name}_input"]
        return [Slot(name) for name in names]

    def packed_inputs(self, flat: list[Any]) -> Any:
        """Inputs in the structure in which the model takes them."""
        structure = getattr(self._model, "input", None) if self.is_built else None
        return tf.nest.pack_sequence_as(structure, flat) if tf.nest.is_nested(structure) else flat[0]

    def output_names(self) -> list[str] | None:
        """The names of the model's outputs, in order; None if it does not know them."""
        if not self._is_functional:
            return None
        if isinstance(self._model, self._keras.Sequential):
            return [self._model.layers[-1].name]
        return list(self._model.output_names)

    @property
    def optimizer(self) -> Any:
        """The optimizer; Keras wraps those of `tf.compat.v1.train`."""
        inner = getattr(self._model.optimizer, "optimizer", None)
        return inner if isinstance(inner, _v1.train.Optimizer) else self._model.optimizer

    @property
    def has_loss(self) -> bool:
        """Whether the model was compiled with a loss."""
        return self._compiled_with["loss"] is not None

    def losses(self) -> Any:
        """The losses of the outputs, to be called with labels and outputs; created for this graph."""
        arguments = self._compiled_with
        return self._containers[0](arguments["loss"], arguments["loss_weights"], output_names=self.output_names())

    def metrics(self) -> Any:
        """The metrics of the outputs, to be updated with labels and outputs; created for this graph."""
        metrics = [_copy_metrics(self._keras, self._compiled_with[kind]) for kind in ("metrics", "weighted_metrics")]
        return self._containers[1](*metrics, output_names=self.output_names())

    def _copy(self, features: Any) -> Any:
        if not self._is_functional:
            return self._copy_subclassed()
        names = sibling_names(self._model.layers)

        def copy_layer(layer: Any) -> Any:
            return type(layer).from_config({**layer.get_config(), "name": names[layer.name]})

        if self.is_built:
            return self._keras.models.clone_model(self._model, clone_function=copy_layer)
        first = self._keras.Input(features.shape[1:], dtype=features.dtype)
        return self._keras.Sequential([first, *map(copy_layer, self._model.layers)], name=self._model.name)

    def _copy_subclassed(self) -> Any:
        try:
            return type(self._model).from_config(self._model.get_config())
        except Exception as error:
            raise UsageError(
                f"model_to_estimator: the subclassed tf_keras model {self._model.name!r} cannot be made anew for the "
                f"graph of an Estimator ({type(error).__name__}: {error}). Let {type(self._model).__name__} have a "
                "get_config that gives the arguments of its __init__; or use the model of Keras 3, or a model_fn."
            ) from error

    def start(self, copy: Any) -> None:
        """Sets the initial values of a copy, which has been called, to the weights of the model.

        Raises:
            UsageError: the copy has other variables.
        """
        if self._weights is None:
            return
        shapes = [tuple(weight.shape) for weight in copy.weights]
        expected = [weight.shape for weight in self._weights]
        if shapes != expected:
            raise UsageError(
                f"model_to_estimator: a copy of the tf_keras model {self._model.name!r} that was made from its config "
                f"has weights of shape {shapes}, the model itself {expected}. Let get_config of "
                f"{type(self._model).__name__} give all that its layers depend on."
            )
        for variable, value in zip(copy.weights, self._weights, strict=True):
            with tf.init_scope():
                first = variable.assign(fixed(value, variable.dtype), read_value=False)
            private_keras.replace_initializer(variable, first)


class _InGraph(InGraph):
    """The copy of the model in one graph."""

    def __init__(self, model: LegacyModel, copy: Any, trace: KerasTrace) -> None:
        self._model = model
        self._copy = copy
        self._trace = trace
        self._losses: Any = None
        self.optimizer = model.optimizer

    def call(self, inputs: Any) -> Any:
        outputs = self._copy(inputs)
        self._model.start(self._copy)
        return outputs

    def loss(self, inputs: Any, labels: Any, outputs: Any, weights: Any, *, training: bool) -> Any:
        penalties = self._trace.graph.get_collection(_v1.GraphKeys.REGULARIZATION_LOSSES)
        if not penalties and not self._model.has_loss:
            refuse_without_loss(self._copy.name)
        self._losses = self._model.losses()
        return self._losses(labels, outputs, weights, regularization_losses=penalties)

    def metrics(self, inputs: Any, labels: Any, outputs: Any, weights: Any) -> dict[str, Any]:
        metrics = self._model.metrics()
        metrics.update_state(labels, outputs, weights)
        own = [*self._losses.metrics, *metrics.metrics, *self._copy.metrics]
        return {metric.name: metric for metric in own if metric.name != LOSS}

    @property
    def trainable_variables(self) -> list[Any]:
        return list(self._copy.trainable_variables)


def _copy_metrics(keras: Any, metrics: Any) -> Any:
    """The metrics, with copies of objects, whose variables belong to this graph."""

    def one(metric: Any) -> Any:
        return type(metric).from_config(metric.get_config()) if isinstance(metric, keras.metrics.Metric) else metric

    return tf.nest.map_structure(one, metrics)
