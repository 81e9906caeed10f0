"""`MetricObserver`, the base class of `KeepBest` and `EarlyStopping`, which decide by one metric of an evaluation.

It takes the evaluations of `train_and_evaluate`, or results of `evaluate` from a loop of the user.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lightwell.base.keys import CHECKPOINT_PREFIX, GLOBAL_STEP
from lightwell.base.metric_direction import resolved_mode
from lightwell.errors import CheckpointUnreadable, UnknownMetric, UsageError, WrongType
from lightwell.estimator.workflow.observers import Evaluation, EvaluationObserver
from lightwell.inside.paths.nearest import nearest_paths
from lightwell.run.checkpoints.index import exists, step_of

if TYPE_CHECKING:
    from lightwell.estimator.core import Estimator


class MetricObserver(EvaluationObserver):
    """Looks at one metric of each evaluation.

    Args:
        metric: the metric's name, as `evaluate` gives it.
        mode: `"max"` if high values are good, `"min"` if low ones are, `"auto"` to go by the name.
        eval_name: the name of the `EvalSpec` whose evaluations count; None where there is only one.

    Attributes:
        metric, mode, eval_name: the arguments; the mode is "min" or "max".
    """

    def __init__(self, metric: str, mode: str, eval_name: str | None) -> None:
        where = type(self).__name__
        if not isinstance(metric, str) or not metric:
            raise WrongType(f"{where}: metric must be the name of a metric, got {type(metric).__name__} {metric!r}.")
        self.metric = metric
        self.mode = resolved_mode(mode, metric, where)
        self.eval_name = eval_name
        self._seen_name = eval_name
        self._estimator: Estimator | None = None

    @property
    def sign(self) -> float:
        """1 if high values are good, else -1."""
        return 1.0 if self.mode == "max" else -1.0

    @property
    def model_dir(self) -> str:
        """The directory of the model.

        Raises:
            UsageError: it has not met its Estimator yet.
        """
        if self._estimator is None:
            raise UsageError(
                f"{type(self).__name__}: it has not met its Estimator yet, and does not know its model_dir. Hand it to "
                "train_and_evaluate, or call begin(estimator)."
            )
        return self._estimator.model_dir

    @property
    def own_name(self) -> str:
        """A part of file names that distinguishes this observer from others of its class."""
        parts = [self.metric] if not self.eval_name else [self.eval_name, self.metric]
        return "-".join(re.sub(r"[^\w.=+]", "_", part) for part in parts)

    def begin(self, estimator: Estimator) -> None:
        """Reads the state of an earlier run."""
        self._estimator = estimator
        self._seen_name = self.eval_name

    def offer(self, estimator: Estimator, metrics: Mapping[str, Any], checkpoint_path: Any = None) -> str | None:
        """Looks at a result of `estimator.evaluate`, for programs that train and evaluate in their own loop.

        Args:
            estimator: the Estimator.
            metrics: what its `evaluate` returned.
            checkpoint_path: the checkpoint that was evaluated, if it was named; else the one in `model_dir`.

        Returns:
            Why the training should stop, or None.

        Raises:
            CheckpointUnreadable: the checkpoint that was evaluated does not exist.
        """
        if self._estimator is None or self._estimator.model_dir != estimator.model_dir:
            self.begin(estimator)
        step = int(metrics[GLOBAL_STEP])
        path = os.fspath(checkpoint_path) if checkpoint_path else _checkpoint_of(estimator, step)
        return self.after_evaluation(Evaluation(self.eval_name or "", metrics, step, path))

    def value_of(self, evaluation: Evaluation) -> float | None:
        """The value of the metric; None if the evaluation is another one.

        Raises:
            UnknownMetric: it has no such metric.
            UsageError: several evaluations have it, and `eval_name` is not set; or it is no number.
        """
        if self.eval_name is not None and evaluation.name != self.eval_name:
            return None
        where = f"{type(self).__name__}: the metrics of evaluation {evaluation.name!r}"
        if self._seen_name not in (None, evaluation.name):
            raise UsageError(
                f"{type(self).__name__}: there are several evaluations, {self._seen_name!r} and {evaluation.name!r}. "
                f"Say which one counts: eval_name={evaluation.name!r}."
            )
        if self.metric not in evaluation.metrics:
            known = [name for name in evaluation.metrics if name != GLOBAL_STEP]
            raise UnknownMetric(self.metric, known, nearest_paths(self.metric, known), where)
        self._seen_name = evaluation.name
        value = np.asarray(evaluation.metrics[self.metric])
        if value.size != 1 or not np.issubdtype(value.dtype, np.number):
            raise UsageError(
                f"{type(self).__name__}: metric {self.metric!r} is no number, but has the shape {value.shape} and the "
                f"type {value.dtype}. Name one that can be compared."
            )
        return float(value.reshape(()))

    def is_better(self, value: float, other: float | None, by: float = 0.0) -> bool:
        """Whether a value is better than another one by more than `by`; NaN never is."""
        if math.isnan(value):
            return False
        return other is None or self.sign * (value - other) > by


def _checkpoint_of(estimator: Estimator, step: int) -> str:
    """The checkpoint of a step in `model_dir`."""
    newest = estimator.latest_checkpoint()
    if newest is not None and step_of(newest) in (step, None):
        return newest
    path = os.path.join(estimator.model_dir, f"{CHECKPOINT_PREFIX}-{step}")
    if not exists(path):
        raise CheckpointUnreadable(
            f"The checkpoint of step {step} that was evaluated is not in {estimator.model_dir} (any more). Offer a "
            "result right after its evaluation, or name the checkpoint: offer(estimator, metrics, checkpoint_path)."
        )
    return path
