"""Stops training once a function returns true: called at the first step, then at a cadence of steps or seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.errors import UsageError
from lightwell.run.checkpoints.index import newest_complete
from lightwell.run.checkpoints.reader import variable_names
from lightwell.run.hooks.base import ScheduledHook, SessionRunArgs
from lightwell.run.hooks.context import RunContext

_v1 = tf.compat.v1
_SCOPE, _NAME = "signal_early_stopping", "STOP"


class StopOnPredicate(ScheduledHook):
    """Calls `should_stop`, and stops when it returns true.

    It is called at the same steps as in `tf.estimator`: a cadence in steps counts from the step counter before the last
    look, and continues over several trainings with the same hook.

    The variable `signal_early_stopping/STOP` in a checkpoint says whether the training was stopped this way, as in
    `tf.estimator`. A training that resumes from a checkpoint without it does not create it.

    In a cluster only the chief calls `should_stop`; a worker reads that variable after each of its steps, or calls
    `should_stop` itself where there is none.

    It also works in a `tf.compat.v1.train.MonitoredSession` that somebody else opened.

    Args:
        should_stop: takes nothing; true to stop.
        directory: the `model_dir`.
        every_secs: seconds between two looks.
        every_steps: steps between two looks. Exactly one of the two is set.
        is_chief: whether this process decides, and does not follow another one.
    """

    judges_each_step = True

    def __init__(
        self,
        should_stop: Callable[[], Any],
        directory: str,
        every_secs: float | None = None,
        every_steps: int | None = None,
        is_chief: bool = True,
    ) -> None:
        if every_secs is None and every_steps is None:
            raise UsageError(
                "make_early_stopping_hook: Either every_secs or every_steps should be provided; run_every_secs and "
                "run_every_steps are both None, so it would never look."
            )
        self._should_stop = should_stop
        self._directory = directory
        self._every_secs = every_secs
        self._every_steps = every_steps
        self._is_chief = is_chief
        self._last_step: int | None = None
        self._last_time = 0.0
        self._global_step: Any = None
        self._signal: Any = None  # of the chief, for a worker to look at
        self._mark_stopped: Any = None

    def begin(self) -> None:
        """Creates the variable for the stop, if the checkpoint to start from has it, or there is no checkpoint."""
        self._mark_stopped = self._signal = None
        self._global_step = _v1.train.get_or_create_global_step()
        if self._can_be_restored() and not any(op.type == "SaveV2" for op in _graph().get_operations()):
            with _v1.variable_scope(_SCOPE, reuse=_v1.AUTO_REUSE):
                stopped = _v1.get_variable(
                    _NAME, [], tf.bool, initializer=_v1.constant_initializer(False), trainable=False
                )
            self._mark_stopped = stopped.assign(True, read_value=False)
            self._signal = None if self._is_chief else stopped.read_value()

    def next_look(self, count: int) -> int:
        """The first step, then the cadence; every step of a worker that follows the chief."""
        if self._last_step is None or self._signal is not None:
            return count + 1
        if self._every_steps is None:
            return self.NEVER
        return max(count + 1, self.after_stale(math.ceil(self._last_step + self._every_steps) + 1))

    def next_look_seconds(self) -> float:
        """The time to the next look, on a cadence of seconds."""
        return math.inf if self._every_secs is None else self._last_time + self._every_secs - time.time()

    def before_run(self, run_context: Any) -> Any:
        """Fetches the step in a session that is not the Estimator's."""
        return None if isinstance(run_context, RunContext) else SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Calls `should_stop`, and requests a stop if it returns true."""
        if self._signal is not None:
            if run_context.session.run(self._signal):
                logger.info("Early stopping requested, suspend training.")
                run_context.request_stop()
            return
        step = run_context.count_before if isinstance(run_context, RunContext) else int(run_values.results)
        if not self._is_time(step):
            return
        self._last_step, self._last_time = step, time.time()
        if self._should_stop():
            logger.info("Requesting early stopping at global step %d", step)
            if self._mark_stopped is not None:
                run_context.session.run(self._mark_stopped)
            run_context.request_stop()

    def _is_time(self, step: int) -> bool:
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._every_steps is not None:
            return step >= self._last_step + self._every_steps
        return self.next_look_seconds() <= 0

    def _can_be_restored(self) -> bool:
        """Whether the variable gets a value: from the checkpoint, or an initial one. A saver that `model_fn` made
        would not know it."""
        checkpoint = newest_complete(self._directory)
        return checkpoint is None or f"{_SCOPE}/{_NAME}" in variable_names(checkpoint)


def _graph() -> tf.Graph:
    return _v1.get_default_graph()
