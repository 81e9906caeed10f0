"""The listener that evaluates the checkpoints of a training as they are written, inside the one call of `train`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lightwell.hooks.checkpoint_work import CheckpointWork
from lightwell.log import logger
from lightwell.workflow.rounds import Rounds


class EvaluateCheckpoints(CheckpointWork):
    """Stands last among the listeners. The checkpoint that a training writes when it starts is not evaluated.

    Args:
        rounds: what evaluates.
        begins: called when the training has begun.

    Attributes:
        first_step: the step at which the training began; None if it never did.
        last_step: the step that it has come to.
    """

    def __init__(self, rounds: Rounds, begins: Callable[[], None]) -> None:
        self._rounds, self._begins = rounds, begins
        self.first_step: int | None = None
        self.last_step: int | None = None

    def __repr__(self) -> str:
        return f"train_and_evaluate ({self._rounds.stop_reason or 'evaluates each checkpoint'})"

    def next_save(self, step: int) -> int:
        """Where evaluations come by steps, the next of them."""
        return self._rounds.next_save(step)

    def progress_note(self) -> str:
        """The evaluation that runs, or what the last one gave."""
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
