"""Stops a worker at a step, once another process has saved a checkpoint of it."""

from __future__ import annotations

import math
import time
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.run.checkpoints.index import newest_complete
from lightwell.run.checkpoints.reader import variable_value
from lightwell.run.hooks.base import ScheduledHook
from lightwell.run.hooks.context import RunContext


class StopAtCheckpoint(ScheduledHook):
    """Requests a stop once the counter has reached a step and the newest checkpoint too; until then each step waits.

    Args:
        directory: where the checkpoints are.
        last_step: the step.
        wait_secs: how long to wait where the checkpoint is not there yet.
    """

    def __init__(self, directory: str, last_step: int, wait_secs: float) -> None:
        self._directory, self._last_step, self._wait_secs = directory, last_step, wait_secs
        self._global_step: Any = None

    def begin(self) -> None:
        """Finds the counter."""
        self._global_step = tf.compat.v1.train.get_or_create_global_step()

    def next_look(self, count: int) -> int:
        """The step itself, and each one after it."""
        return max(count + 1, math.ceil(self._last_step))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Looks for the checkpoint, if it is time."""
        is_ours = isinstance(run_context, RunContext)
        step = run_context.count if is_ours else int(run_context.session.run(self._global_step))
        if step < self._last_step:
            return
        saved = self._saved_step()
        if saved is not None and saved >= self._last_step:
            run_context.request_stop()
            return
        logger.info(
            "Step %d is reached, and the newest checkpoint of %s is of step %s: waiting %s s for the chief to save.",
            *(step, self._directory, "none" if saved is None else saved, self._wait_secs),
        )
        time.sleep(self._wait_secs)

    def _saved_step(self) -> int | None:
        checkpoint = newest_complete(self._directory)
        return None if checkpoint is None else int(variable_value(checkpoint, "global_step"))
