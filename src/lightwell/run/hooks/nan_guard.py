"""Stops a training whose loss is NaN, and reports the first bad value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from lightwell.base.log import logger
from lightwell.run.hooks.base import NEVER, ScheduledHook


class NanLossError(tf.compat.v1.train.NanLossDuringTrainingError):
    """TensorFlow's `NanLossDuringTrainingError`, with more to say than its one fixed sentence."""

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message

    def __str__(self) -> str:
        return self.message


class NanGuard(ScheduledHook):
    """Raises `NanLossDuringTrainingError` on a NaN loss, unless a hook before it has stopped the run because of it.

    Args:
        explain: called with the session once the loss is NaN; returns sentences about the first bad tensor.
    """

    sees_nan = True

    def __init__(self, explain: Callable[[Any], str]) -> None:
        self._explain = explain

    def next_look(self, count: int) -> int:
        """No step but one whose loss is NaN."""
        return NEVER

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Looks at the loss of the step that just ran."""
        if not math.isnan(run_context.loss_value) or run_context.nan_is_expected:
            return
        logger.error("Model diverged with loss = NaN.")
        explanation = self._explain(run_context.session)
        raise NanLossError(f"NaN loss during training, at step {run_context.count}. {explanation}")
