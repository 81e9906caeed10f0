"""`tf.contrib.learn.Estimator`: fit, evaluate and predict with arrays or an `input_fn`.

Trains and evaluates through `lightwell.Estimator`, so a `model_dir` holds what that writes, under the variable names of
TensorFlow 1.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.keys import ModeKeys
from lightwell.compat.contrib.learn.estimators.array_inputs import IN_ORDER, TRAINING, input_fn_of
from lightwell.compat.contrib.learn.estimators.model_fn_ops import ModelFnOps, model_fn_ops
from lightwell.compat.contrib.learn.input_fn_utils import as_receiver_fn
from lightwell.compat.contrib.learn.metric_spec import MetricSpec
from lightwell.compat.contrib.learn.monitors.adapter import replace_monitors_with_hooks
from lightwell.errors import UsageError, WrongType
from lightwell.estimator import core
from lightwell.model.spec import EstimatorSpec

_OPTIONAL = ("mode", "params", "config", "model_dir")


class NotFittedError(ValueError, AttributeError):
    """There is no trained model."""


class BaseEstimator:
    """The verbs. A subclass defines `_ops(features, labels, mode)`, which returns `ModelFnOps`.

    Args:
        model_dir: the folder of checkpoints and events; that of `config`, or a temporary one, if None.
        config: a `learn.RunConfig` or a `RunConfig` of `tf.estimator`.
    """

    def __init__(self, model_dir: Any = None, config: Any = None) -> None:
        self._inner = core.Estimator(self._spec_fn({}, None), model_dir, config)

    @property
    def config(self) -> Any:
        """How the model is run."""
        return self._inner.config

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""
        return self._inner.model_dir

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> Any:
        """Trains, from the newest checkpoint on. Arrays are read again and again: pass `steps` or `max_steps`.

        Args:
            x: features: an array with a row for each example, arrays by name, or an iterator over rows.
            y: labels, likewise.
            input_fn: in their place, as for `tf.estimator`.
            steps: how many more steps.
            batch_size: rows of a batch; all if None.
            monitors: `learn.monitors` and hooks.
            max_steps: up to which step.
        """
        if steps is not None and max_steps is not None:
            raise UsageError("fit: Can not provide both steps and max_steps.")
        given = input_fn_of("fit", x, y, input_fn, batch_size, TRAINING)
        hooks = replace_monitors_with_hooks(monitors, self)
        self._inner.train(given, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> Any:
        """Trains one more step by default; see `fit`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Evaluates the newest checkpoint.

        Args:
            x: features; see `fit`.
            y: labels.
            input_fn: in their place.
            feed_fn: not offered.
            batch_size: rows of a batch; all if None.
            steps: how many batches; all if None.
            metrics: `MetricSpec`s by name, beside those of the model.
            name: keeps several evaluations apart.
            checkpoint_path: a checkpoint in place of the newest.
            hooks: around each batch.
            log_progress: without effect.

        Raises:
            NotFittedError: there is no checkpoint.
        """
        if feed_fn is not None:
            raise UsageError("evaluate: feed_fn is not offered; return tensors or a tf.data.Dataset from input_fn.")
        given = input_fn_of("evaluate", x, y, input_fn, batch_size, IN_ORDER)
        self._expect_checkpoint(checkpoint_path)
        with_metrics = self.core_estimator(metrics)
        try:
            return dict(with_metrics.evaluate(given, steps, hooks, checkpoint_path, name))
        finally:
            with_metrics.close()

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Predictions: an iterator over rows, or arrays.

        Args:
            x: features; see `fit`.
            input_fn: in their place. It has to end, unless rows are taken one by one.
            batch_size: rows of a batch; all if None.
            outputs: the keys of the wanted predictions; all if None.
            as_iterable: whether to iterate; if not, the result is one array, or one for each key.
            iterate_batches: whether to iterate over batches.
        """
        given = input_fn_of("predict", x, None, input_fn, batch_size, IN_ORDER)
        self._expect_checkpoint(None)
        keys = list(outputs) if outputs else None
        if as_iterable:
            return self._inner.predict(given, keys, yield_single_examples=not iterate_batches)
        found = _Ending(given)
        return joined(self._inner.predict(found, keys, yield_single_examples=False), found)

    def core_estimator(self, metrics: Mapping[Any, Any] | None, alternative: str | None = None) -> core.Estimator:
        """The same model in the same folder, as an Estimator of `tf.estimator`.

        Args:
            metrics: `MetricSpec`s by name, beside those of the model.
            alternative: which of several outputs an export serves by default.
        """
        return core.Estimator(self._spec_fn(metrics or {}, alternative), self.model_dir, self.config)

    def get_variable_names(self) -> list[str]:
        """The names in the newest checkpoint."""
        return self._inner.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """A value of the newest checkpoint."""
        return self._inner.get_variable_value(name)

    def export(self, *args: Any, **kwargs: Any) -> Any:
        """Not offered: it wrote a SessionBundle, which no TensorFlow reads since 1.0.

        Raises:
            UsageError: always.
        """
        raise UsageError(
            f"{type(self).__name__}.export wrote a SessionBundle, a format that nothing reads any more. Use "
            "export_savedmodel(export_dir_base, serving_input_fn), with learn.build_parsing_serving_input_fn."
        )

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        graph_rewrite_specs: Any = None,
        strip_default_attrs: bool = False,
    ) -> Any:
        """Writes a SavedModel into a new folder of `export_dir_base`, and returns its path.

        Args:
            export_dir_base: the folder of all exports.
            serving_input_fn: returns `InputFnOps`, or a `ServingInputReceiver`.
            default_output_alternative_key: which of several outputs is served by default.
            assets_extra: further files.
            as_text: whether the graph is written as text.
            checkpoint_path: a checkpoint in place of the newest.
            graph_rewrite_specs: without effect.
            strip_default_attrs: without effect.
        """
        if not callable(serving_input_fn):
            raise UsageError("export_savedmodel: serving_input_fn must be defined and callable.")
        self._expect_checkpoint(checkpoint_path)
        exporting = self.core_estimator(None, default_output_alternative_key)
        try:
            return exporting.export_saved_model(
                export_dir_base, as_receiver_fn(serving_input_fn), assets_extra, as_text, checkpoint_path
            )
        finally:
            exporting.close()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, as scikit-learn asks for them."""
        names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def set_params(self, **params: Any) -> Any:
        """Sets arguments of the constructor by their names."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise UsageError(f"Invalid parameter {name} for estimator {type(self).__name__}.")
            setattr(self, name, value)
        return self

    def _ops(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        raise NotImplementedError(f"{type(self).__name__} has no model: derive from learn.Estimator.")

    def _spec_fn(self, metrics: Mapping[Any, Any], alternative: str | None) -> Callable[..., EstimatorSpec]:
        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            made = self._ops(features, labels, mode)
            if mode == ModeKeys.EVAL:
                more = metric_ops(metrics, features, labels, made.predictions)
                made = made._replace(eval_metric_ops={**made.eval_metric_ops, **more})
            return made.estimator_spec(alternative)

        return model_fn

    def _expect_checkpoint(self, checkpoint_path: Any) -> None:
        if checkpoint_path is None and tf.train.latest_checkpoint(self.model_dir) is None:
            raise NotFittedError(
                f"{type(self).__name__}: Couldn't find trained model at {self.model_dir}. Call fit first."
            )


class Estimator(BaseEstimator):
    """A model of your own.

    Args:
        model_fn: `(features, labels, mode, params)`, of which mode and params may be left out, or model_dir and config
            added; returns `ModelFnOps`, or `(predictions, loss, train_op)`.
        model_dir: the folder of checkpoints and events.
        config: a `learn.RunConfig`.
        params: passed to `model_fn`.
        feature_engineering_fn: from features and labels to those that `model_fn` sees.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[[Any, Any], tuple[Any, Any]] | None = None,
    ) -> None:
        self.params = params
        self._engineering = feature_engineering_fn
        self._asked = _checked(model_fn, params)
        self._model_fn: Callable[..., Any] = model_fn or _no_model
        super().__init__(model_dir, config)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The function of the model."""
        return self._model_fn

    def _ops(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        if self._engineering is not None:
            features, labels = self._engineering(features, labels)
        offered = {"mode": mode, "params": self.params}
        if "config" in self._asked:
            offered["config"] = self.config
        if "model_dir" in self._asked:
            offered["model_dir"] = self.model_dir
        given = {name: value for name, value in offered.items() if name in self._asked}
        return model_fn_ops(self._model_fn(features, labels, **given), mode)


class _Ending:
    """An `input_fn` that notes whether its batches end: constants do not."""

    def __init__(self, input_fn: Callable[[], Any]) -> None:
        self._input_fn = input_fn
        self.ends = True

    def __call__(self) -> Any:
        made = self._input_fn()
        graph = tf.compat.v1.get_default_graph()
        queues = graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
        iterators = any(op.type == "IteratorGetNext" for op in graph.get_operations())
        self.ends = isinstance(made, tf.data.Dataset) or bool(queues) or iterators
        return made


def joined(batches: Iterator[Any], input_fn: _Ending) -> Any:
    """All batches in one array, or one array for each key; the first batch of an input that does not end."""
    first = next(batches, None)
    if first is None:
        return {}
    parts = [first, *batches] if input_fn.ends else [first]
    if not isinstance(first, dict):
        return np.concatenate(parts)
    return {key: np.concatenate([part[key] for part in parts]) for key in first}


def metric_ops(metrics: Mapping[Any, Any], features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    """The metrics of an evaluation, in the graph being built.

    Args:
        metrics: `MetricSpec`s by name, or functions `(predictions, labels)` by name or by (name, key of the
            predictions).
        features: the batch.
        labels: its labels.
        predictions: what the model says.
    """
    made = {}
    for name, metric in sorted(metrics.items(), key=lambda pair: str(pair[0])):
        if hasattr(metric, "create_metric_ops"):
            made[str(name)] = metric.create_metric_ops(features, labels, predictions)
            continue
        if not callable(metric):
            raise WrongType(f"evaluate: metrics[{name!r}] must be a MetricSpec, got {type(metric).__name__}.")
        key = name[1] if isinstance(name, tuple) else None
        if isinstance(name, tuple) and len(name) != 2:
            raise UsageError(f"evaluate: a metric's name must be a string, or (name, prediction key), got {name!r}.")
        chosen = predictions if key is None else MetricSpec(metric, key)._chosen("prediction_key", predictions)
        made[name[0] if isinstance(name, tuple) else str(name)] = metric(chosen, labels)
    return made


def _no_model(features: Any, labels: Any) -> Any:
    raise UsageError("learn.Estimator: model_fn must be set: a function of features, labels and mode.")


def _checked(model_fn: Callable[..., Any] | None, params: Any) -> frozenset[str]:
    """Which of the optional arguments a `model_fn` takes.

    Raises:
        UsageError: it takes neither features nor labels, or there are params that it does not take.
    """
    if model_fn is None:
        _no_model(None, None)
        return frozenset()
    parameters = inspect.signature(model_fn).parameters.values()
    names = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    free = [name for name in names if name not in _OPTIONAL]
    if len(free) < 2:
        raise UsageError(f"learn.Estimator: model_fn must take features and labels, it takes ({', '.join(names)}).")
    if params is not None and "params" not in names:
        raise UsageError(
            f"learn.Estimator: model_fn does not take params, but params={params!r} were passed. Add the argument."
        )
    return frozenset(names).intersection(_OPTIONAL)
