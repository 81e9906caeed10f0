"""The early stopping hooks of `tf.estimator.experimental`: they read the metrics of evaluations from event files.

The hook itself is `run/hooks/stop_on_predicate.py`. Where training and evaluation share a process,
`lightwell.EarlyStopping` decides right at the evaluation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import UnknownMetric, UsageError, WrongKind, WrongType
from lightwell.estimator.core import Estimator
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.run.events import MetricsReader
from lightwell.run.hooks.stop_at_checkpoint import StopAtCheckpoint
from lightwell.run.hooks.stop_on_predicate import StopOnPredicate


@dataclass(frozen=True)
class _Direction:
    """Up or down: its comparison, and its words for log lines."""

    is_beyond: Callable[[float, float], bool]
    compared: str
    moved: str


_UP = _Direction(operator.gt, "greater", "increase")
_DOWN = _Direction(operator.lt, "less", "decrease")


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], Any],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that stops training once `should_stop_fn` says so.

    Args:
        estimator: the Estimator that is trained with it.
        should_stop_fn: takes nothing; true to stop.
        run_every_secs: seconds between two calls of it.
        run_every_steps: steps between two calls of it; then `run_every_secs` must be None.

    Raises:
        WrongType: the first is no Estimator, or the second no function.
        UsageError: both cadences are set, or none.
    """
    _check_estimator(estimator, "make_early_stopping_hook")
    if not callable(should_stop_fn):
        raise WrongType(
            "make_early_stopping_hook: `should_stop_fn` must be callable. Expected a function without arguments that "
            f"says whether to stop, got {type(should_stop_fn).__name__} {should_stop_fn!r}."
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise UsageError(
            "make_early_stopping_hook: Only one of `run_every_secs` and `run_every_steps` must be set, got "
            f"{run_every_secs} and {run_every_steps}. For a cadence in steps, say run_every_secs=None."
        )
    config = estimator.config
    # Under a strategy each process has its own copy of the stop signal, so each one calls the predicate.
    decides = config.is_chief or config.train_distribute is not None
    return StopOnPredicate(should_stop_fn, estimator.model_dir, run_every_secs, run_every_steps, decides)


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that stops training once a metric is higher than a threshold.

    Args:
        estimator: the Estimator that is trained with it.
        metric_name: the metric, as `evaluate` calls it.
        threshold: what it must exceed.
        eval_dir: where evaluations write their events; `estimator.eval_dir()` by default.
        min_steps: evaluations of earlier steps do not count.
        run_every_secs: seconds between two looks at the events.
        run_every_steps: steps between two looks; then `run_every_secs` must be None.

    Raises:
        UnknownMetric: at a look, if evaluations were written and none has the metric.
    """
    history = _metric_history(estimator, "stop_if_higher_hook", metric_name, eval_dir, min_steps)
    return make_early_stopping_hook(
        estimator, lambda: history.has_passed(_UP, threshold), run_every_secs, run_every_steps
    )


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that stops training once a metric is lower than a threshold; see `stop_if_higher_hook`."""
    history = _metric_history(estimator, "stop_if_lower_hook", metric_name, eval_dir, min_steps)
    return make_early_stopping_hook(
        estimator, lambda: history.has_passed(_DOWN, threshold), run_every_secs, run_every_steps
    )


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that stops training once a metric has not risen above its best for so many steps.

    Args:
        estimator: the Estimator that is trained with it.
        metric_name: the metric, as `evaluate` calls it.
        max_steps_without_increase: how long to wait, from the step of the best evaluation to that of a later one.
        eval_dir: where evaluations write their events; `estimator.eval_dir()` by default.
        min_steps: evaluations of earlier steps do not count.
        run_every_secs: seconds between two looks at the events.
        run_every_steps: steps between two looks; then `run_every_secs` must be None.

    Raises:
        UnknownMetric: at a look, if evaluations were written and none has the metric.
    """
    history = _metric_history(estimator, "stop_if_no_increase_hook", metric_name, eval_dir, min_steps)
    most = max_steps_without_increase
    return make_early_stopping_hook(estimator, lambda: history.has_stalled(_UP, most), run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> Any:
    """A hook that stops training once a metric has not fallen below its best for so many steps; see
    `stop_if_no_increase_hook`."""
    history = _metric_history(estimator, "stop_if_no_decrease_hook", metric_name, eval_dir, min_steps)
    most = max_steps_without_decrease
    return make_early_stopping_hook(
        estimator, lambda: history.has_stalled(_DOWN, most), run_every_secs, run_every_steps
    )


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> Any:
    """A hook that stops training at a step, once there is a checkpoint of it: the one that the training saves itself,
    or, in a worker of a cluster, the one that the chief saves.

    Args:
        estimator: the Estimator that is trained with it.
        last_step: the step.
        wait_after_file_check_secs: how long a worker that saves none waits between two looks for it.
    """
    _check_estimator(estimator, "make_stop_at_checkpoint_step_hook")
    if not estimator.config.is_chief:
        return StopAtCheckpoint(estimator.model_dir, last_step, wait_after_file_check_secs)
    return tf.compat.v1.train.StopAtStepHook(last_step=last_step)


def _check_estimator(estimator: Any, where: str) -> None:
    if not isinstance(estimator, Estimator):
        raise WrongKind(
            f"{where}: `estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}. Hand it the "
            "Estimator that you train with this hook."
        )


def _metric_history(estimator: Any, where: str, metric: str, eval_dir: str | None, min_steps: int) -> _MetricHistory:
    _check_estimator(estimator, where)
    return _MetricHistory(where, metric, MetricsReader(eval_dir or estimator.eval_dir()), min_steps)


@dataclass(frozen=True)
class _MetricHistory:
    """The values of a metric in the event files of evaluations.

    Attributes:
        where: the name of the factory, for errors.
        metric: the name of the metric.
        events: reads the event files.
        min_steps: values of earlier steps do not count.
    """

    where: str
    metric: str
    events: MetricsReader
    min_steps: int

    def has_passed(self, direction: _Direction, threshold: float) -> bool:
        """Whether a value is beyond the threshold."""
        for step, value in self._values():
            if direction.is_beyond(value, threshold):
                logger.info(
                    'At step %s, metric "%s" has value %s which is %s than the configured threshold (%s) for early '
                    "stopping.",
                    *(step, self.metric, value, direction.compared, threshold),
                )
                return True
        return False

    def has_stalled(self, direction: _Direction, most_steps: int) -> bool:
        """Whether no value was better than the best one for `most_steps` steps."""
        best_step, best = None, 0.0
        for step, value in self._values():
            if best_step is None or direction.is_beyond(value, best):
                best_step, best = step, value
            if step - best_step >= most_steps:
                logger.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured '
                    "for early stopping. Its best value is %s, at step %s.",
                    *(direction.moved, self.metric, step - best_step, most_steps, best, best_step),
                )
                return True
        return False

    def _values(self) -> Iterator[tuple[int, float]]:
        """Yields step and value, in the order of steps.

        Raises:
            UnknownMetric: evaluations were written, and none of them has the metric.
        """
        evaluations = {step: values for step, values in self.events.read().items() if step >= self.min_steps}
        history = {step: values[self.metric] for step, values in evaluations.items() if self.metric in values}
        if evaluations and not history:
            known = sorted({name for values in evaluations.values() for name in values})
            where = f"{self.where}: the evaluations in {self.events.directory}"
            raise UnknownMetric(self.metric, known, nearest_paths(self.metric, known), where)
        yield from history.items()
