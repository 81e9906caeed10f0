"""The listener that evaluates the checkpoints of a training as they are written, within one call of `train`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.base.log import logger
from lightwell.estimator.workflow.rounds import Rounds
from lightwell.run.hooks.checkpoint_work import CheckpointWork


class EvaluateCheckpoints(CheckpointWork):
    """The last of the listeners. The checkpoint that a training writes when it starts is not evaluated.

    Args:
        rounds: runs the evaluations.
        begins: called when the training has begun.

    Attributes:
        first_step: the step at which the training began; None if it never did.
        last_step: the current step.
    """

    def __init__(self, rounds: Rounds, begins: Callable[[], None]) -> None:
        self._rounds, self._begins = rounds, begins
        self.first_step: int | None = None
        self.last_step: int | None = None

    def __repr__(self) -> str:
        return f"train_and_evaluate ({self._rounds.stop_reason or 'evaluates each checkpoint'})"

    def next_save(self, step: int) -> int:
        """The step of the next evaluation, if they are scheduled by steps."""
        return self._rounds.next_save(step)

    def progress_note(self) -> str:
        """The running evaluation, and the last metrics."""
        return self._rounds.progress_note()

    def after_save(self, session: Any, global_step_value: Any) -> bool | None:
        """Evaluates; True when an observer wants training to stop."""
        step = self.last_step = int(global_step_value)
        if self.first_step is None:
            self.first_step = step
            self._rounds.begin(step)
            self._begins()
            return None
        self._rounds.after_checkpoint(step)
        if not self._rounds.stop_reason:
            return None
        logger.info("Training stops at step %d: %s", step, self._rounds.stop_reason)
        return True

    def end(self, session: Any, global_step_value: Any) -> None:
        """Evaluates the last checkpoint, if that has not been done."""
        self.last_step = int(global_step_value)
        self._rounds.at_the_end(self.last_step)
