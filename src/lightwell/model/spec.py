"""`EstimatorSpec`: what a `model_fn` gives back, checked for its mode at the moment it is made.

Owns the value and the rules per mode. Takes tensors and ops of the graph that is being built; builds nothing itself
except the reshape of a one-element loss to a scalar, and what reads the value of a Keras metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from lightwell.base.keys import DEFAULT_SERVING_SIGNATURE, ModeKeys
from lightwell.errors import ModelFnError, WrongKind, WrongType
from lightwell.model import outputs

# What is said of hooks that are none: of those in a spec, and of those that a verb is given.
_HOOKS_OF_SPECS = "All hooks must be SessionRunHook instances"
HOOKS_OF_VERBS = "Hooks must be a SessionRunHook"
HOOK_METHODS = ("begin", "after_create_session", "before_run", "after_run", "end")


class _Fields(NamedTuple):
    mode: Any
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, Any]
    export_outputs: dict[str, Any] | None
    training_chief_hooks: tuple[Any, ...]
    training_hooks: tuple[Any, ...]
    scaffold: Any
    evaluation_hooks: tuple[Any, ...]
    prediction_hooks: tuple[Any, ...]


class EstimatorSpec(_Fields):
    """What `model_fn` returns: ops and objects that describe one mode of the model.

    Which fields a mode needs:

    * `ModeKeys.TRAIN`: `loss` and `train_op`.
    * `ModeKeys.EVAL`: `loss`.
    * `ModeKeys.PREDICT`: `predictions`.

    A `model_fn` may fill in all of them whatever the mode; those a mode does not need are ignored.

    Args:
        mode: a `ModeKeys` value. With any other, nothing is asked for here, but when a verb takes the spec.
        predictions: a tensor, or a dict of tensors.
        loss: a tensor with a single element.
        train_op: the op that makes one training step and counts `global_step`.
        eval_metric_ops: name to metric; a metric is a `(value, update_op)` pair, as the functions of
            `tf.compat.v1.metrics` return, or a Keras metric object whose `update_state` was called in `model_fn`.
        export_outputs: signature name to an `ExportOutput`, for SavedModels.
        training_chief_hooks: hooks that run on the chief during training.
        training_hooks: hooks that run on every worker during training.
        scaffold: a `tf.compat.v1.train.Scaffold` with init ops, a saver and the like of one's own.
        evaluation_hooks: hooks that run during evaluation.
        prediction_hooks: hooks that run during prediction.

    Raises:
        ModelFnError: something that the mode needs is missing, or is not of the expected form.
        WrongType: a field has the wrong type.
    """

    __slots__ = ()

    def _replace(self, **changes: Any) -> EstimatorSpec:  # a namedtuple's own would skip the checks
        if changes.get("mode", self.mode) != self.mode:
            raise ModelFnError(f"mode of EstimatorSpec cannot be changed, from {self.mode!r} to {changes['mode']!r}.")
        unknown = sorted(changes.keys() - set(self._fields))
        if unknown:
            raise ModelFnError(f"EstimatorSpec has no fields {unknown}; it has {list(self._fields)}.")
        return type(self)(**{**self._asdict(), **changes})

    def __new__(
        cls,
        mode: Any,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        export_outputs: Mapping[str, Any] | None = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: Any = None,
        evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        where = f"EstimatorSpec(mode={mode!r})"
        return super().__new__(
            cls,
            mode=mode,
            predictions=_checked_predictions(predictions, mode, where),
            loss=_checked_loss(loss, mode, where),
            train_op=_checked_train_op(train_op, mode, where),
            eval_metric_ops=_checked_metrics(eval_metric_ops, where),
            export_outputs=_checked_exports(export_outputs, predictions, mode, where),
            training_chief_hooks=checked_hooks(training_chief_hooks, f"{where}: training_chief_hooks"),
            training_hooks=checked_hooks(training_hooks, f"{where}: training_hooks"),
            scaffold=_checked_scaffold(scaffold, where),
            evaluation_hooks=checked_hooks(evaluation_hooks, f"{where}: evaluation_hooks"),
            prediction_hooks=checked_hooks(prediction_hooks, f"{where}: prediction_hooks"),
        )


def returned_spec(returned: Any, mode: str, model_fn: str) -> EstimatorSpec:
    """The spec that a `model_fn` returned, as the mode needs it that it was called in, whatever mode it was made for.

    Raises:
        ModelFnError: it is none, or something that the mode needs is missing.
    """
    spec = returned
    if hasattr(spec, "as_estimator_spec"):  # TPUEstimatorSpec and its like
        spec = spec.as_estimator_spec()
    if not isinstance(spec, EstimatorSpec):
        hint = "Is a `return` missing?" if spec is None else "End it with: return EstimatorSpec(mode=mode, ...)."
        raise ModelFnError(
            f"model_fn {model_fn!r} in mode {mode!r}: model_fn should return an EstimatorSpec, got "
            f"{type(spec).__name__}{'' if spec is None else f' {spec!r}'}. {hint}"
        )
    if spec.mode == mode:
        return spec
    fields = {**spec._asdict(), "mode": mode}
    if isinstance(spec.predictions, dict) and not spec.predictions:
        fields["predictions"] = None  # none were given
    return EstimatorSpec(**fields)


def checked_hooks(hooks: Sequence[Any] | None, where: str, expected: str = _HOOKS_OF_SPECS) -> tuple[Any, ...]:
    """Hooks as a tuple. A hook is anything with the five methods of `SessionRunHook`, whatever its base class.

    Raises:
        WrongType: they are no list, or one of them is no hook; the text has `expected` in it.
    """
    if hooks is None:
        return ()
    if isinstance(hooks, str | Mapping) or not hasattr(hooks, "__iter__"):
        raise WrongType(
            f"{where} must be a list of hooks. {expected}, given: {hooks!r}. Put a single one into a list: [hook]."
        )
    hooks = tuple(hooks)  # first of all: an iterator can be gone through once
    for hook in hooks:
        missing = [method for method in HOOK_METHODS if not callable(getattr(hook, method, None))]
        if missing or isinstance(hook, type):
            raise WrongType(
                f"{where}: {hook!r} is not a hook"
                + (": it is a class; make an instance of it." if isinstance(hook, type) else f": it has no {missing}.")
                + f" {expected}, given: {hook!r}. Derive it from tf.compat.v1.train.SessionRunHook."
            )
    return hooks


def _checked_loss(loss: Any, mode: str, where: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ModelFnError(
                f"{where}: Missing loss. This mode needs the loss as a tensor with one element, got None. "
                "Pass loss=... to EstimatorSpec."
            )
        return None
    if not tf.is_tensor(loss):
        raise WrongType(
            f"{where}: loss must be Tensor, given: {_described(loss)}. Pass a tensor with one element, as "
            "tf.reduce_mean(...) gives."
        )
    _check_graph(loss, "loss", where)
    if loss.shape.is_fully_defined() and loss.shape.num_elements() != 1:
        raise ModelFnError(
            f"{where}: Loss must be scalar, given: {loss.name} of shape {tuple(loss.shape)}. "
            "Reduce it first, for example with tf.reduce_mean."
        )
    return loss if loss.shape.rank == 0 else tf.reshape(loss, [])


def _checked_train_op(train_op: Any, mode: str, where: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ModelFnError(
                f"{where}: Missing train_op. Training needs the op that makes a step, got None. Pass for example "
                "train_op=optimizer.minimize(loss, global_step=tf.compat.v1.train.get_global_step())."
            )
        return None
    if isinstance(train_op, tf.Variable):
        train_op = train_op.op
    if not (isinstance(train_op, tf.Operation) or tf.is_tensor(train_op)):
        raise WrongType(
            f"{where}: train_op must be Operation or Tensor, given: {_described(train_op)}. "
            "A v1 optimizer's minimize(...) returns one; several ops can be joined with tf.group(...)."
        )
    _check_graph(train_op, "train_op", where)
    return train_op


def _checked_predictions(predictions: Any, mode: str, where: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ModelFnError(
                f"{where}: Missing predictions. This mode needs a tensor or a dict of tensors, got None. "
                "Pass predictions=... to EstimatorSpec."
            )
        return {}
    if isinstance(predictions, Mapping):
        for key, value in predictions.items():
            if mode == ModeKeys.PREDICT and isinstance(value, tf.SparseTensor):
                raise WrongType(
                    f"{where}: predictions[{key}] must be Tensor, given: a SparseTensor, which has no rows to give "
                    "out. Make it dense with tf.sparse.to_dense."
                )
            if not isinstance(value, tf.Variable) and not tf.is_tensor(value):
                raise WrongType(f"{where}: predictions[{key}] must be Tensor, given: {_described(value)}.")
            _check_graph(value, "prediction values", where, key)
        return dict(predictions)
    if not tf.is_tensor(predictions):
        raise WrongType(
            f"{where}: predictions must be Tensor, given: {_described(predictions)}. Pass a tensor, or a dict of "
            "tensors by name."
        )
    _check_graph(predictions, "prediction values", where)
    return predictions


def _checked_metrics(metrics: Mapping[str, Any] | None, where: str) -> dict[str, Any]:
    """The metrics as (value, update_op) pairs."""
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        raise WrongType(
            f"{where}: eval_metric_ops must be a dict, given: {_described(metrics)}. Pass the metrics by name: "
            "{'accuracy': tf.compat.v1.metrics.accuracy(...)}."
        )
    objects = {}
    for name, metric in metrics.items():
        if not isinstance(name, str):
            raise WrongType(f"{where}: the names of eval_metric_ops must be strings, got {_described(name)}.")
        if not isinstance(metric, tuple) and _is_keras_metric(metric):
            objects[name] = metric
        else:
            _check_metric_pair(metric, name, where)
    if not objects:
        return dict(metrics)
    from lightwell.model.interop.metrics import metric_pairs  # not before a Keras metric is there

    pairs = metric_pairs(objects, tf.compat.v1.get_default_graph())
    return {name: pairs.get(name, metric) for name, metric in metrics.items()}


def _is_keras_metric(metric: Any) -> bool:
    """Whether `metric` is a Keras metric object (Keras 3 or legacy), told by what it can do."""
    methods = ("update_state", "result", "reset_state")
    return not isinstance(metric, type) and all(callable(getattr(metric, method, None)) for method in methods)


def _check_metric_pair(metric: Any, name: str, where: str) -> None:
    expected = f"{where}: Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
    to_do = f" for key: {name}. Pass what tf.compat.v1.metrics.* return, or a Keras metric object."
    if not isinstance(metric, tuple) or len(metric) != 2:
        raise WrongType(f"{expected}{_described(metric)}{to_do}")
    for part in tf.nest.flatten(list(metric)):
        if not (tf.is_tensor(part) or isinstance(part, tf.Operation | tf.Variable)):
            raise WrongKind(f"{expected}a pair with {_described(part)} in it{to_do}")
        _check_graph(part, "eval_metric_ops", where, name)


def _checked_exports(exports: Mapping[str, Any] | None, predictions: Any, mode: str, where: str) -> Any:
    if mode != ModeKeys.PREDICT:
        return exports
    if exports is None:
        return {DEFAULT_SERVING_SIGNATURE: outputs.PredictOutput(predictions)}
    if not isinstance(exports, Mapping):
        raise WrongType(
            f"{where}: `export_outputs` must be dict, received: {_described(exports)}. Pass each ExportOutput by the "
            "name of its signature."
        )
    for name, output in exports.items():
        if not isinstance(output, outputs.ExportOutput):
            raise WrongType(
                f"{where}: Values in `export_outputs` must be ExportOutput objects, received: {_described(output)} for "
                f"{name!r}. Pass one of those in tf.estimator.export, such as PredictOutput(outputs)."
            )
    if len(exports) == 1:  # a lone signature is also the one that servers look for
        (only,) = exports.values()
        return {**exports, DEFAULT_SERVING_SIGNATURE: only}
    if exports and DEFAULT_SERVING_SIGNATURE not in exports:
        raise ModelFnError(
            f"{where}: Multiple `export_outputs` were provided, but none of them are specified as the default, which "
            f"is called {DEFAULT_SERVING_SIGNATURE!r}; got {sorted(exports, key=str)}. Give that name to the one that "
            "servers shall use when asked for none."
        )
    return dict(exports)


def _checked_scaffold(scaffold: Any, where: str) -> Any:
    if not scaffold:
        return tf.compat.v1.train.Scaffold()
    if not isinstance(scaffold, tf.compat.v1.train.Scaffold):
        raise WrongType(
            f"{where}: scaffold must be tf.train.Scaffold. Given: {_described(scaffold)}. Make one with "
            "tf.compat.v1.train.Scaffold(...)."
        )
    return scaffold


def _check_graph(value: Any, field: str, where: str, key: str | None = None) -> None:
    for part in tf.nest.flatten(value, expand_composites=True):  # a sparse or ragged tensor has several
        graph = getattr(part, "graph", None)
        if graph is None or graph is not tf.compat.v1.get_default_graph():
            named = _name_or_value(part) if key is None else f"{key}: {_name_or_value(part)}"
            raise ModelFnError(
                f'{where}: {field} with "{named}" must be from the default graph, the one that model_fn was called in; '
                "this is of another one. Build all ops inside model_fn."
            )


def _name_or_value(tensor: Any) -> str:
    try:
        return str(tensor.name)
    except AttributeError:  # an eager tensor has no name
        return repr(tensor)


def _described(value: Any) -> str:
    return f"{value!r} ({type(value).__name__})"
