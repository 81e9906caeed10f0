"""`TrainAndEvaluateResult`, the result of `train_and_evaluate`.

It is the pair of `tf.estimator`, `(eval_result, export_results)`, with more attributes: all evaluations, the exports,
and why the training ended.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lightwell.base.keys import GLOBAL_STEP, LOSS
from lightwell.base.metric_direction import resolved_mode
from lightwell.errors import UnknownMetric, UsageError
from lightwell.estimator.workflow.observers import Evaluation
from lightwell.inside.paths.nearest import nearest_paths


class _Pair(NamedTuple):
    eval_result: Mapping[str, Any] | None
    export_results: list[Any] | None


class TrainAndEvaluateResult(_Pair):
    """The result of `train_and_evaluate`; it unpacks to `eval_result, export_results`.

    Attributes:
        eval_result: the metrics of the last evaluation; of the first `EvalSpec`, if there are several. None if nothing
            was evaluated.
        export_results: what the exporters of that spec returned then, in their order. None if nothing was evaluated.
        evaluations: all evaluations, in order.
        exports: exporter name to what it returned last, over all specs.
        stopped: why the training ended, as a sentence.
    """

    evaluations: tuple[Evaluation, ...]
    exports: Mapping[str, Any]
    stopped: str
    _first: str

    @classmethod
    def of(
        cls,
        first: str,
        evaluations: Sequence[Evaluation],
        export_results: list[Any] | None,
        exports: Mapping[str, Any],
        stopped: str,
    ) -> TrainAndEvaluateResult:
        """Creates a result; `first` is the name of the first `EvalSpec`."""
        last = next((one.metrics for one in reversed(evaluations) if one.name == first), None)
        result = cls(last, export_results)
        result.evaluations, result.exports, result.stopped = tuple(evaluations), dict(exports), stopped
        result._first = first
        return result

    @property
    def metrics(self) -> dict[str, Mapping[str, Any]]:
        """The last metrics of each evaluation by its name; the name is empty for an `EvalSpec` without one."""
        return {one.name: one.metrics for one in self.evaluations}

    @property
    def global_step(self) -> int | None:
        """The step of the last evaluation; None if there was none."""
        return self.evaluations[-1].global_step if self.evaluations else None

    @property
    def best_step(self) -> int | None:
        """The step with the lowest loss, in the evaluation of the first `EvalSpec`; None if there was none."""
        return self.best().global_step if any(one.name == self._first for one in self.evaluations) else None

    def best(self, metric: str = LOSS, name: str | None = None, mode: str = "auto") -> Evaluation:
        """The evaluation with the best value of a metric; the earlier one of equals.

        Args:
            metric: the metric.
            name: which evaluation, by the name of its `EvalSpec`; None for the first.
            mode: "min" if low values are good, "max" if high ones are, "auto" to go by the metric's name.

        Raises:
            UsageError: there is no such evaluation or metric, or its name does not tell which values are good.
        """
        eval_name = self._first if name is None else name
        those = [one for one in self.evaluations if one.name == eval_name]
        if not those:
            names = list(self.metrics)
            raise UsageError(f"best: no evaluation is called {eval_name!r}; there are {names}. {self.stopped}")
        known = [key for key in those[-1].metrics if key != GLOBAL_STEP]
        if metric not in known:
            where = f"best: the metrics of evaluation {eval_name!r}"
            raise UnknownMetric(metric, known, nearest_paths(metric, known), where)
        sign = 1.0 if resolved_mode(mode, metric, "best") == "min" else -1.0
        return min(those, key=lambda one: _order(sign * float(np.mean(one.metrics[metric]))))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(eval_result={self.eval_result!r}, export_results={self.export_results!r}, "
            f"evaluations={len(self.evaluations)}, stopped={self.stopped!r})"
        )


def _order(value: float) -> float:
    return math.inf if math.isnan(value) else value
