"""`Evaluation`, the result of one evaluation, and `EvaluationObserver`, the base class of its observers.

`train_and_evaluate` calls its observers after each evaluation, in order; they may end the training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lightwell.estimator.core import Estimator


@dataclass(frozen=True)
class Evaluation:
    """One evaluation.

    Attributes:
        name: the name of its `EvalSpec`; empty if it has none.
        metrics: what `Estimator.evaluate` returned.
        global_step: the step of the weights that were evaluated.
        checkpoint_path: the checkpoint that was evaluated.
    """

    name: str
    metrics: Mapping[str, Any]
    global_step: int
    checkpoint_path: str


class EvaluationObserver:
    """Looks at each evaluation of `train_and_evaluate`; derive from it and override what you need."""

    def begin(self, estimator: Estimator) -> None:
        """Called once, before the training: the place to read the state of an earlier run."""

    def after_evaluation(self, evaluation: Evaluation) -> str | None:
        """Called after each evaluation.

        Returns:
            None to go on; else why the training should stop, as a sentence for the log.
        """
        return None

    def end(self, estimator: Estimator) -> None:
        """Called once, after the last evaluation and before the final export; not after an error."""
