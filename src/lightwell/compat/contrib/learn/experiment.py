"""`tf.contrib.learn.Experiment`: an Estimator with its data, over `train_and_evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lightwell.compat.contrib.learn.estimators.base import BaseEstimator
from lightwell.compat.contrib.learn.export_strategy import ExportStrategy
from lightwell.compat.contrib.learn.monitors.adapter import replace_monitors_with_hooks
from lightwell.errors import UsageError
from lightwell.estimator.canned.add_metrics import add_metrics
from lightwell.estimator.workflow.specs import EvalSpec, TrainSpec
from lightwell.estimator.workflow.train_and_evaluate import train_and_evaluate


class Experiment:
    """An Estimator, its data and how long to train.

    Args:
        estimator: an Estimator, of `tf.contrib.learn` or of `tf.estimator`.
        train_input_fn: returns the training data.
        eval_input_fn: returns the evaluation data.
        eval_metrics: `MetricSpec`s by name, in addition to those of the model.
        train_steps: up to which global step to train; to the end of the data if None.
        eval_steps: how many batches to evaluate; to the end of the data if None.
        train_monitors: monitors and hooks of the training.
        eval_hooks: hooks of the evaluation.
        local_eval_frequency: without effect.
        eval_delay_secs: how long before the first evaluation.
        continuous_eval_throttle_secs: least time between two evaluations.
        min_eval_frequency: without effect: every checkpoint is evaluated that comes late enough.
        delay_workers_by_global_step: without effect.
        export_strategies: one or several `ExportStrategy`.
        train_steps_per_iteration: without effect.
        checkpoint_and_export: whether to export after each evaluation, and not only after the last.
        saving_listeners: called at each checkpoint.
        check_interval_secs: without effect.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Mapping[str, Any] | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: int = 120,
        continuous_eval_throttle_secs: int = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: int = 5,
    ) -> None:
        self._shown = estimator
        if isinstance(estimator, BaseEstimator):
            train_monitors = replace_monitors_with_hooks(train_monitors, estimator)
            estimator = estimator.core_estimator(eval_metrics)
            eval_metrics, self.eval_metrics = None, eval_metrics
        else:
            self.eval_metrics = eval_metrics
        if not callable(getattr(estimator, "train", None)):
            raise UsageError(
                f"Experiment: `estimator` must be an Estimator of tf.estimator, got {type(estimator).__name__}."
            )
        self._estimator = add_metrics(estimator, _metric_fn(eval_metrics)) if eval_metrics else estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._train_hooks, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._delay, self._throttle = eval_delay_secs, continuous_eval_throttle_secs
        self._strategies = _as_list(export_strategies)
        self._exports_always = checkpoint_and_export
        self._saving_listeners = list(saving_listeners or ())

    @property
    def estimator(self) -> Any:
        """The Estimator."""
        return self._shown if isinstance(self._shown, BaseEstimator) else self._estimator

    @property
    def train_steps(self) -> int | None:
        """Up to which global step to train."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """How many batches to evaluate."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """Adds hooks of the training."""
        self._train_hooks.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Replaces the strategies; returns the old ones."""
        before, self._strategies = self._strategies, _as_list(new_export_strategies)
        return before

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains up to `train_steps`."""
        return self._estimator.train(
            self._train_input_fn,
            hooks=self._train_hooks,
            max_steps=self._train_steps,
            saving_listeners=self._saving_listeners,
        )

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the newest checkpoint."""
        return self._estimator.evaluate(
            self._eval_input_fn, steps=self._eval_steps, hooks=self._eval_hooks, name=name or "one_pass"
        )

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Trains, evaluates and exports in turn.

        Returns:
            The metrics of the last evaluation, and the results of the last exports.
        """
        exporters = [_AsExporter(one, self._exports_always, self._shown) for one in self._strategies]
        train_spec = TrainSpec(
            self._train_input_fn, self._train_steps, self._train_hooks, self._saving_listeners or None
        )
        eval_spec = EvalSpec(
            self._eval_input_fn,
            self._eval_steps,
            hooks=self._eval_hooks,
            exporters=exporters,
            start_delay_secs=self._delay,
            throttle_secs=self._throttle,
        )
        result = train_and_evaluate(self._estimator, train_spec, eval_spec)
        metrics = result[0] if isinstance(result, tuple) else result
        return metrics, [one.last for one in exporters]

    continuous_train_and_eval = train_and_evaluate
    local_run = train_and_evaluate

    def test(self) -> tuple[Any, list[Any]]:
        """One step of training, one evaluation of one batch, one export: whether all fits together."""
        self._estimator.train(self._train_input_fn, hooks=self._train_hooks, steps=1)
        metrics = self._estimator.evaluate(self._eval_input_fn, steps=1, hooks=self._eval_hooks, name="one_pass")
        folder = f"{self._estimator.model_dir}/export"
        return metrics, [one.export(self.estimator, f"{folder}/{one.name}") for one in self._strategies]


class _AsExporter:
    """An `ExportStrategy` as `train_and_evaluate` takes it."""

    def __init__(self, strategy: ExportStrategy, always: bool, shown: Any) -> None:
        self._strategy = strategy
        self._shown = shown
        self._always = always
        self.last: Any = None

    @property
    def name(self) -> str:
        """The folder below `export`."""
        return str(self._strategy.name)

    def export(
        self, estimator: Any, export_path: Any, checkpoint_path: Any, eval_result: Any, is_the_final_export: bool
    ) -> Any:
        """Exports after the last evaluation, or after each."""
        if self._always or is_the_final_export:
            exported = self._shown if isinstance(self._shown, BaseEstimator) else estimator
            self.last = self._strategy.export(exported, export_path, checkpoint_path, eval_result)
        return self.last


def _as_list(strategies: Any) -> list[Any]:
    if strategies is None:
        return []
    return [strategies] if isinstance(strategies, ExportStrategy) else list(strategies)


def _metric_fn(specs: Mapping[str, Any]) -> Callable[..., Any]:
    def metric_fn(features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
        return {str(name): spec.create_metric_ops(features, labels, predictions) for name, spec in specs.items()}

    return metric_fn
