"""A compiled model of Keras 3 as the `model_fn` of an Estimator needs it.

Weights, optimizer settings and arguments of `compile` are those at the time of the conversion. In a graph the model
itself is called, so that every model works that Keras can call. Meanwhile its variables represent those of the graph
(`interop`), and it is compiled again, for metrics that start at zero. Afterwards the model is unchanged.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from lightwell.base.keys import LOSS
from lightwell.errors import ModelFnError, UsageError
from lightwell.estimator.from_keras.matching import Slot
from lightwell.estimator.from_keras.model_fn import InGraph, refuse_without_loss
from lightwell.foreign import private_keras
from lightwell.model.interop.initial_values import outside_the_graph
from lightwell.model.interop.metrics import result_pairs
from lightwell.model.interop.optimizers import copied
from lightwell.model.interop.outside import take_back
from lightwell.model.interop.trace import KerasTrace
from lightwell.model.interop.variables import give_back, start_at
from lightwell.model.layers.naming import snake_case
from lightwell.run.engine.side_session import values_of

_STEPS = ("train_step", "test_step", "predict_step")


class Keras3Model:
    """The model, with its weights and settings at the time of the conversion.

    Args:
        model: a compiled `keras.Model`.
        custom_objects: classes and functions by name, for optimizers that are copied.

    Raises:
        UsageError: the model has a step of its own, or an optimizer that cannot be copied.
    """

    def __init__(self, model: Any, custom_objects: Mapping[str, Any]) -> None:
        self._keras = private_keras.keras3()
        self._model = model
        self._refuse_own_steps()
        self._scope = dict(custom_objects)
        self._optimizer = self._own_optimizer()
        self._compiled_with = private_keras.compile_arguments(model)
        self._weights: list[Any] | None = None
        self._lock = _GraphLock()
        self.is_built = bool(model.built)
        if self.is_built:
            self._weights = _values(model.weights)

    def _own_optimizer(self) -> Any:
        """The settings of the optimizer as they are now; its state stays behind."""
        optimizer = self._model.optimizer
        if not isinstance(optimizer, self._keras.optimizers.Optimizer):  # one of tf.compat.v1.train, or none
            return optimizer
        with self._keras.utils.custom_object_scope(self._scope):
            return copied(optimizer)

    @contextlib.contextmanager
    def in_graph(self, trace: KerasTrace, features: Any) -> Iterator[InGraph]:
        """The model in the graph of `trace`, inside the block."""
        with self._keras.utils.custom_object_scope(self._scope), self._lock.hold(trace.graph) as is_first:
            if is_first:
                self._lock.enter_until_released(self._in_place_of(trace, features))
            yield _InGraph(self._model, trace, self._optimizer)

    @contextlib.contextmanager
    def _in_place_of(self, trace: KerasTrace, features: Any) -> Iterator[None]:
        """Inside the block, the variables of the model represent those of the graph."""
        model = self._model
        with contextlib.ExitStack() as stack:
            if self._weights is None:
                outside_the_graph(lambda: self._build(features))
            stack.callback(private_keras.clear_losses, model)
            stack.callback(give_back, trace)
            stack.callback(take_back, trace)
            for variable, value in zip(model.weights, self._weights or (), strict=True):
                start_at(trace, variable, value)
            if _has_layer_graph(model):
                trace.names.name_siblings(layer for layer in model.layers if not self._is_placeholder(layer))
            stack.enter_context(self._recompiled())
            yield

    def input_slots(self) -> list[Slot] | None:
        """The model's inputs; None if it takes whatever it is called with."""
        model = self._model
        if not _has_layer_graph(model):
            return None
        if not _is_functional(model):
            names = [tensor.name for tensor in getattr(model, "inputs", None) or () if _is_named(tensor)]
            first = model.layers[0]
            return [_slot([*names, f"{first.name}_input", f"{snake_case(type(first).__name__)}_input", "input_1"])]
        keys = {id(t): key for key, t in model.input.items()} if isinstance(model.input, Mapping) else {}
        layers = {id(layer.output): layer.name for layer in model.layers if self._is_placeholder(layer)}
        return [
            _slot(
                [
                    keys.get(id(tensor)),
                    tensor.name if _is_named(tensor) else None,
                    layers.get(id(tensor)),
                    f"input_{place}",
                ]
            )
            for place, tensor in enumerate(model.inputs, start=1)
        ]

    def _is_placeholder(self, layer: Any) -> bool:
        return isinstance(layer, self._keras.layers.InputLayer)

    def packed_inputs(self, flat: list[Any]) -> Any:
        """Inputs in the structure in which the model takes them."""
        if not _is_functional(self._model):
            return flat[0]
        return tf.nest.pack_sequence_as(self._model.input, flat)

    def output_names(self) -> list[str] | None:
        """The names of the model's outputs, in order; None if it does not know them."""
        if _is_functional(self._model):
            return _unique(self._model.output_names)
        return [self._model.layers[-1].name] if _has_layer_graph(self._model) else None

    def _build(self, features: Any) -> None:
        """Creates the weights of a model that was never called, as `fit` does at its first batch."""

        def described(tensor: Any) -> Any:
            return self._keras.KerasTensor((None, *tensor.shape[1:]), dtype=tensor.dtype.name)

        if not self._model.built:
            try:
                self._model(tf.nest.map_structure(described, features))
            except Exception as error:
                raise ModelFnError(
                    f"The Keras model {self._model.name!r} is not built, and could not be built for features of shape "
                    f"{tf.nest.map_structure(lambda tensor: tuple(tensor.shape), features)} ({type(error).__name__}: "
                    f"{error}). Call it once on a batch before model_to_estimator."
                ) from error
        self._weights = self._model.get_weights()

    @contextlib.contextmanager
    def _recompiled(self) -> Iterator[None]:
        """Compiles the model for this graph inside the block; restores the earlier state afterwards."""
        model, before = self._model, dict(vars(self._model))
        try:
            self._keras.Model.compile(model, optimizer=None, jit_compile=False, **self._compiled_with)
            metrics = tf.nest.flatten([self._compiled_with["metrics"], self._compiled_with["weighted_metrics"]])
            for metric in [*metrics, *model.metrics]:
                if isinstance(metric, self._keras.metrics.Metric):
                    metric.reset_state()  # in a graph this is the initial value
            yield
        finally:
            for name in vars(model).keys() - before.keys():
                del vars(model)[name]
            vars(model).update(before)

    def _refuse_own_steps(self) -> None:
        own = [step for step in _STEPS if getattr(type(self._model), step) is not getattr(self._keras.Model, step)]
        if own:
            raise UsageError(
                f"model_to_estimator: the Keras model {self._model.name!r} ({type(self._model).__name__}) has a "
                f"{' and a '.join(own)} of its own, which an Estimator does not run: it calls the model, compute_loss, "
                "the metrics and the optimizer. Override compute_loss instead, or call the model in a model_fn that "
                "does what the step does."
            )


class _GraphLock:
    """A lock for one graph at a time; replicas of a strategy, threads that build one graph, share it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._graph: Any = None
        self._inside = 0
        self._stack = contextlib.ExitStack()

    @contextlib.contextmanager
    def hold(self, graph: Any) -> Iterator[bool]:
        """Waits for a graph; yields whether this thread is the first that enters it."""
        with self._changed:
            self._changed.wait_for(lambda: self._graph in (None, graph))
            self._graph, self._inside = graph, self._inside + 1
            is_first = self._inside == 1
        try:
            yield is_first
        finally:
            with self._changed:
                self._inside -= 1
                if self._inside == 0:
                    self._graph = None
                    self._changed.notify_all()
                    self._stack.close()

    def enter_until_released(self, context: contextlib.AbstractContextManager[Any]) -> None:
        """Enters a block, which ends when the last one leaves the graph."""
        self._stack.enter_context(context)


class _InGraph(InGraph):
    """The model while its variables represent those of one graph."""

    def __init__(self, model: Any, trace: KerasTrace, optimizer: Any) -> None:
        self._model = model
        self._trace = trace
        self.optimizer = optimizer

    def call(self, inputs: Any) -> Any:
        return self._model(inputs)

    def loss(self, inputs: Any, labels: Any, outputs: Any, weights: Any, *, training: bool) -> Any:
        if not self._has_loss():
            refuse_without_loss(self._model.name)
        takes_training = "training" in inspect.signature(self._model.compute_loss).parameters
        extra = {"training": training} if takes_training else {}
        return self._model.compute_loss(x=inputs, y=labels, y_pred=outputs, sample_weight=weights, **extra)

    def _has_loss(self) -> bool:
        own = type(self._model).compute_loss is not private_keras.keras3().Model.compute_loss
        return own or self._model.loss is not None or bool(self._model.losses)

    def metrics(self, inputs: Any, labels: Any, outputs: Any, weights: Any) -> dict[str, Any]:
        self._model.compute_metrics(inputs, labels, outputs, sample_weight=weights)
        metrics = [metric for metric in self._model.metrics if metric.name != LOSS]
        variables = [variable for metric in metrics for variable in metric.variables]
        return result_pairs(variables, lambda: _results(metrics), self._trace.graph) if variables else {}

    @property
    def trainable_variables(self) -> list[Any]:
        return list(self._model.trainable_variables)


def _results(metrics: list[Any]) -> dict[str, Any]:
    """Values by the names that Keras reports; one metric may give several."""
    values: dict[str, Any] = {}
    for metric in metrics:
        result = metric.result()
        values.update(result if isinstance(result, Mapping) else {metric.name: result})
    return values


def _has_layer_graph(model: Any) -> bool:
    """Whether it is functional or Sequential, and not subclassed."""
    return _is_functional(model) or isinstance(model, private_keras.keras3().Sequential)


def _is_functional(model: Any) -> bool:
    return getattr(model, "output_names", None) is not None and hasattr(model, "inputs")


def _is_named(tensor: Any) -> bool:
    """Whether the user named an input, and not Keras."""
    return not tensor.name.startswith("keras_tensor")


def _slot(names: list[str | None]) -> Slot:
    """An input under the first of its names, and all others. Keras 2 called one without a name `input_1`, or
    `dense_input` in a Sequential, and so do programs."""
    known = [name for name in dict.fromkeys(names) if name]
    return Slot(known[0], tuple(known[1:]))


def _unique(names: list[str]) -> list[str]:
    """The names with numbers for repetitions: a layer may have several outputs."""
    counts: dict[str, int] = {}
    unique = []
    for name in names:
        count = counts.get(name, 0)
        counts[name] = count + 1
        unique.append(f"{name}_{count}" if count else name)
    return unique


def _values(weights: list[Any]) -> list[Any]:
    """The values of a model's weights. Those of a program without eager execution are variables of its graph."""
    variables = [private_keras.tf_variable_of(weight) for weight in weights]
    if all(private_keras.is_eager(variable) for variable in variables):
        return [weight.numpy() for weight in weights]
    return values_of(variables)
