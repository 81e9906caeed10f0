"""The early stopping hooks of `tf.estimator.experimental`: they read the metrics of evaluations from event files.

Owns the factories and what they look for in the numbers; `hooks/stop_on_predicate.py` does the looking. Who evaluates
in the same process decides better at the evaluation itself: `lightwell.EarlyStopping`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from lightwell.errors import UnknownMetric, UsageError, WrongKind, WrongType
from lightwell.estimator.core import Estimator
from lightwell.events import MetricsReader
from lightwell.hooks.stop_at_checkpoint import StopAtCheckpoint
from lightwell.hooks.stop_on_predicate import StopOnPredicate
from lightwell.log import logger
from lightwell.sight.nearest import nearest_paths


@dataclass(frozen=True)
class _Way:
    """Up or down: what is beyond another value, and the words for it."""

    is_beyond: Callable[[float, float], bool]
    compared: str
    moved: str


_UP = _Way(operator.gt, "greater", "increase")
_DOWN = _Way(operator.lt, "less", "decrease")


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
    # Under a strategy each process has a copy of the chief's signal that nobody sets: all of them ask.
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
    written = _written(estimator, "stop_if_higher_hook", metric_name, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, lambda: written.passed(_UP, threshold), run_every_secs, run_every_steps)


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
    written = _written(estimator, "stop_if_lower_hook", metric_name, eval_dir, min_steps)
    return make_early_stopping_hook(
        estimator, lambda: written.passed(_DOWN, threshold), run_every_secs, run_every_steps
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
    written = _written(estimator, "stop_if_no_increase_hook", metric_name, eval_dir, min_steps)
    most = max_steps_without_increase
    return make_early_stopping_hook(estimator, lambda: written.stayed(_UP, most), run_every_secs, run_every_steps)


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
    written = _written(estimator, "stop_if_no_decrease_hook", metric_name, eval_dir, min_steps)
    most = max_steps_without_decrease
    return make_early_stopping_hook(estimator, lambda: written.stayed(_DOWN, most), run_every_secs, run_every_steps)


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


def _written(estimator: Any, where: str, metric: str, eval_dir: str | None, min_steps: int) -> _Written:
    _check_estimator(estimator, where)
    return _Written(where, metric, MetricsReader(eval_dir or estimator.eval_dir()), min_steps)


@dataclass(frozen=True)
class _Written:
    """The values of a metric that evaluations wrote.

    Attributes:
        where: who asks, for errors.
        metric: its name.
        events: where they are.
        min_steps: those of earlier steps do not count.
    """

    where: str
    metric: str
    events: MetricsReader
    min_steps: int

    def passed(self, way: _Way, threshold: float) -> bool:
        """Whether a value went beyond a threshold."""
        for step, value in self._values():
            if way.is_beyond(value, threshold):
                logger.info(
                    'At step %s, metric "%s" has value %s which is %s than the configured threshold (%s) for early '
                    "stopping.",
                    *(step, self.metric, value, way.compared, threshold),
                )
                return True
        return False

    def stayed(self, way: _Way, most_steps: int) -> bool:
        """Whether no value went beyond the best one for so many steps."""
        best_step, best = None, 0.0
        for step, value in self._values():
            if best_step is None or way.is_beyond(value, best):
                best_step, best = step, value
            if step - best_step >= most_steps:
                logger.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured '
                    "for early stopping. Its best value is %s, at step %s.",
                    *(way.moved, self.metric, step - best_step, most_steps, best, best_step),
                )
                return True
        return False

    def _values(self) -> Iterator[tuple[int, float]]:
        """Step and value, by step.

        Raises:
            UnknownMetric: evaluations were written, and none of them has the metric.
        """
        written = {step: values for step, values in self.events.read().items() if step >= self.min_steps}
        found = {step: values[self.metric] for step, values in written.items() if self.metric in values}
        if written and not found:
            known = sorted({name for values in written.values() for name in values})
            where = f"{self.where}: the evaluations in {self.events.directory}"
            raise UnknownMetric(self.metric, known, nearest_paths(self.metric, known), where)
        yield from found.items()
