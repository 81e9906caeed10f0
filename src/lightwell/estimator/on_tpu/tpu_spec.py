"""`TPUEstimatorSpec`: what a `model_fn` of a `TPUEstimator` returns, and how it becomes an `EstimatorSpec`.

Metrics, host calls and the scaffold come as functions, because a TPU program runs them elsewhere than the model. Here
they are called in the model's graph, right after it is built.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from lightwell.base.callables import arguments_of, name_of
from lightwell.base.keys import ModeKeys
from lightwell.errors import ModelFnError, WrongType
from lightwell.model.spec import EstimatorSpec, checked_hooks


class _Fields(NamedTuple):
    mode: Any
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: tuple[Any, ...]
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


class WrongNumberOfTensors(ModelFnError, RuntimeError):
    """`eval_metrics` or `host_call` has more or fewer tensors than its function takes."""


class TPUEstimatorSpec(_Fields):
    """What `model_fn` returns: ops and functions that describe one mode of the model.

    Args:
        mode: a `ModeKeys` value.
        predictions: a tensor, or a dict of tensors.
        loss: a tensor with a single element.
        train_op: the op that makes one training step and counts `global_step`.
        eval_metrics: `(metric_fn, tensors)`: `metric_fn` is called with the tensors, by position for a list, by name
            for a dict, and returns what `EstimatorSpec` calls `eval_metric_ops`.
        export_outputs: signature name to an `ExportOutput`.
        scaffold_fn: a function that returns a `tf.compat.v1.train.Scaffold`.
        host_call: `(host_fn, tensors)`: `host_fn` is called in the same way; what it returns is run with each step.
        training_hooks: hooks that run during training.
        evaluation_hooks: hooks that run during evaluation.
        prediction_hooks: hooks that run during prediction.

    Raises:
        ModelFnError: something that the mode needs is missing, or is not of the expected form.
        WrongType: a field has the wrong type.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: Any,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Sequence[Any] | None = None,
        evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
    ) -> TPUEstimatorSpec:
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_call(name, call)
        if scaffold_fn is not None and not callable(scaffold_fn):
            raise WrongType(f"TPUEstimatorSpec: scaffold_fn should be callable, got {scaffold_fn!r}.")
        checked = EstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op, export_outputs=export_outputs
        )
        return super().__new__(
            cls,
            mode,
            checked.predictions,
            checked.loss,
            checked.train_op,
            eval_metrics,
            checked.export_outputs,
            scaffold_fn,
            host_call,
            tuple(checked_hooks(training_hooks, "TPUEstimatorSpec: training_hooks")),
            tuple(checked_hooks(evaluation_hooks, "TPUEstimatorSpec: evaluation_hooks")),
            tuple(checked_hooks(prediction_hooks, "TPUEstimatorSpec: prediction_hooks")),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The same as an `EstimatorSpec`; calls its functions in the default graph."""
        metrics = _called(self.eval_metrics)  # in every mode, and in this order, as tf.estimator calls them
        on_host = _called(self.host_call)
        is_training = self.mode == ModeKeys.TRAIN
        hooks = [] if on_host is None or is_training else [_RunWithEachStep(on_host)]
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=tf.group(self.train_op, on_host) if is_training and on_host is not None else self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=None if self.scaffold_fn is None else self.scaffold_fn(),
            training_hooks=self.training_hooks,
            evaluation_hooks=(*self.evaluation_hooks, *hooks),
            prediction_hooks=(*self.prediction_hooks, *hooks),
        )


class _RunWithEachStep(tf.compat.v1.train.SessionRunHook):
    """Runs the tensors of a host call with each batch of an evaluation or a prediction; in training, train_op does."""

    def __init__(self, fetches: Any) -> None:
        self._fetches = fetches

    def before_run(self, run_context: Any) -> Any:
        """Fetches the tensors."""
        return tf.compat.v1.train.SessionRunArgs(self._fetches)


def _called(call: Any) -> Any:
    """The result of `(function, tensors)`."""
    if call is None:
        return None
    function, tensors = call
    return function(**tensors) if isinstance(tensors, Mapping) else function(*tensors)


def _check_call(name: str, call: Any) -> None:
    if not isinstance(call, tuple | list):
        raise ModelFnError(f"TPUEstimatorSpec: {name} should be tuple or list, (function, tensors), got {call!r}.")
    if len(call) != 2:
        raise ModelFnError(f"TPUEstimatorSpec: {name} should have two elements, (function, tensors), got {call!r}.")
    function, tensors = call
    if not callable(function):
        raise WrongType(f"TPUEstimatorSpec: {name}[0] should be callable. Got {function!r}.")
    if not isinstance(tensors, tuple | list | Mapping):
        raise ModelFnError(f"TPUEstimatorSpec: {name}[1] should be tuple or list, or dict. Got {tensors!r}.")
    takes = arguments_of(function)
    if not isinstance(tensors, Mapping) and not _takes_any_number(function) and len(tensors) != len(takes.names):
        raise WrongNumberOfTensors(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method args of the function "
            f"{name_of(function)!r}, which takes {len(takes.names)}: {list(takes.names)}."
        )


def _takes_any_number(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return True
    has_default = any(parameter.default is not inspect.Parameter.empty for parameter in parameters)
    return has_default or any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
