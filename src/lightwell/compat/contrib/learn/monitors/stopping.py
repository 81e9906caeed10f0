"""Monitors that end a training: `StopAtStep`, `NanLoss`."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from lightwell.base.log import logger
from lightwell.compat.contrib.learn.monitors.base import BaseMonitor, EveryN
from lightwell.errors import UsageError

NanLossDuringTrainingError = tf.compat.v1.train.NanLossDuringTrainingError


class StopAtStep(BaseMonitor):
    """Stops after so many steps, or at a step.

    Args:
        num_steps: how many steps from the first.
        last_step: up to which step.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        if (num_steps is None) == (last_step is None):
            raise UsageError("StopAtStep: exactly one of num_steps and last_step must be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def step_begin(self, step: int) -> list[Any]:
        if self._last_step is None:
            self._last_step = step + (self._num_steps or 1) - 1
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        return self._last_step is not None and step >= self._last_step


class NanLoss(EveryN):
    """Ends the training when the loss is no number.

    Args:
        loss_tensor: the loss, or its name.
        every_n_steps: steps between two looks.
        fail_on_nan_loss: whether to raise; stops if not.
    """

    def __init__(self, loss_tensor: Any, every_n_steps: int = 100, fail_on_nan_loss: bool = True) -> None:
        super().__init__(every_n_steps)
        self._loss, self._fails = loss_tensor, fail_on_nan_loss

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def every_n_step_begin(self, step: int) -> list[Any]:
        return [self._loss]

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        if not np.isnan(outputs[self._loss]):
            return False
        logger.error("Model diverged with loss = NaN.")
        if self._fails:
            raise NanLossDuringTrainingError
        return True
