"""`ValidationMonitor`: evaluates while a model is trained, and stops when it no longer gets better."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.compat.contrib.learn.monitors.base import EveryN
from lightwell.errors import UsageError


class ValidationMonitor(EveryN):
    """Evaluates each new checkpoint: let `RunConfig(save_checkpoints_steps=...)` write them often enough.

    Args:
        x: features; see `learn.Estimator.fit`.
        y: labels.
        input_fn: in their place.
        batch_size: rows of a batch.
        eval_steps: how many batches; all if None.
        every_n_steps: steps between two looks for a new checkpoint.
        metrics: `MetricSpec`s by name.
        hooks: of the evaluation.
        early_stopping_rounds: training stops when the metric has not become better for so many steps; never if None.
        early_stopping_metric: which metric of the evaluation.
        early_stopping_metric_minimize: whether less is better.
        name: of the evaluation.
        check_interval_secs: seconds between two looks at the folder.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[Any, Any] | None = None,
        hooks: Sequence[Any] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise UsageError("ValidationMonitor: Either x or input_fn should be provided.")
        self._given = {
            "x": x,
            "y": y,
            "input_fn": input_fn,
            "batch_size": batch_size,
            "steps": eval_steps,
            "metrics": metrics,
            "hooks": hooks,
            "name": name,
        }
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric
        self._minimize = early_stopping_metric_minimize
        self._interval = check_interval_secs
        self._looked: float | None = None
        self._evaluated: str | None = None
        self._best_step: int | None = None
        self._best_value: Any = None
        self._best_metrics: dict[str, Any] | None = None
        self._early_stopped = False

    @property
    def early_stopped(self) -> bool:
        """Whether it stopped the training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best evaluation."""
        return self._best_step

    @property
    def best_value(self) -> Any:
        """The best value of the metric."""
        return self._best_value

    @property
    def best_metrics(self) -> dict[str, Any] | None:
        """All metrics of the best evaluation."""
        return self._best_metrics

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        now = time.monotonic()
        if self._estimator is None:
            raise UsageError("ValidationMonitor: Missing call to set_estimator; pass the monitor to fit(monitors=...).")
        if self._looked is not None and now - self._looked < self._interval:
            return False
        self._looked = now
        newest = tf.train.latest_checkpoint(self._estimator.model_dir)
        if newest is None or newest == self._evaluated:
            return False
        self._evaluated = newest
        results = self._estimator.evaluate(checkpoint_path=newest, **self._given)
        logger.info("Validation (step %d): %s", step, ", ".join(f"{k} = {v}" for k, v in sorted(results.items())))
        return self._stops(step, results)

    def _stops(self, step: int, results: dict[str, Any]) -> bool:
        if self._rounds is None:
            return False
        if self._metric not in results:
            raise UsageError(
                f"ValidationMonitor: Metric {self._metric} missing from outputs {sorted(results)}; pass one of them as "
                "early_stopping_metric."
            )
        value = results[self._metric]
        best = self._best_step
        better = best is None or (value < self._best_value if self._minimize else value > self._best_value)
        if better:
            self._best_value, self._best_metrics, self._best_step = value, results, step
        if best is None or better or step - best < self._rounds:
            return False
        logger.info("Stopping. Best step: %d with %s = %s.", self._best_step, self._metric, self._best_value)
        self._early_stopped = True
        return True
