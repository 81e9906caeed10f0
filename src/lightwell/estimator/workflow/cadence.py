"""`Cadence`: decides which checkpoints of a training are evaluated for one `EvalSpec`.

For each checkpoint it returns a reason not to evaluate, for the log, or None. With `throttle_secs` it works as
`tf.estimator` does: the first checkpoint after the first step of the training is evaluated, then one as soon as
`throttle_secs` have passed since the last evaluation began.
"""

from __future__ import annotations

import time

from lightwell.estimator.workflow.specs import EvalSpec
from lightwell.run.hooks.base import NEVER


def frequency_text(spec: EvalSpec) -> str:
    """How often a spec is evaluated, as text."""
    if spec.every_steps is not None:
        return f"every {spec.every_steps} steps"
    if spec.every_checkpoints is not None:
        return f"every {spec.every_checkpoints} checkpoints" if spec.every_checkpoints > 1 else "after every checkpoint"
    return f"after every checkpoint, {spec.throttle_secs} secs apart or more"


class Cadence:
    """The cadence of one `EvalSpec` through one training.

    Args:
        spec: the spec.
        first_step: the global step at which the training begins.
    """

    def __init__(self, spec: EvalSpec, first_step: int) -> None:
        self._every_steps, self._every_checkpoints = spec.every_steps, spec.every_checkpoints
        self._frequency = frequency_text(spec)
        self._throttle_secs = spec.throttle_secs
        self._step = first_step  # of the last evaluation
        self._began: float | None = None
        self._checkpoints = 0  # since the last evaluation

    @property
    def has_evaluated(self) -> bool:
        """Whether there was an evaluation."""
        return self._began is not None

    def is_done(self, step: int) -> bool:
        """Whether the weights of this step were evaluated."""
        return self.has_evaluated and step == self._step

    def next_save(self, step: int) -> int:
        """The first step after `step` that needs a checkpoint to be evaluated."""
        return NEVER if self._every_steps is None else (step // self._every_steps + 1) * self._every_steps

    def seconds_left(self) -> float:
        """How long the last evaluation holds off the next one."""
        if self._began is None or self._every_steps is not None or self._every_checkpoints is not None:
            return 0.0
        return max(0.0, self._began + self._throttle_secs - time.time())

    def skip_reason(self, step: int) -> str | None:
        """Counts a new checkpoint; returns why it is not to be evaluated, or None."""
        if self.is_done(step):
            return "as this step has been evaluated"
        self._checkpoints += 1
        if self._every_steps is not None:
            passed = step // self._every_steps > self._step // self._every_steps
            return None if passed else f"as it comes {self._frequency}, next at {self.next_save(step)}"
        if self._every_checkpoints is not None:
            missing = self._every_checkpoints - self._checkpoints
            return None if missing <= 0 else f"as it comes {self._frequency}, {missing} to go"
        if self._began is not None and time.time() < self._began + self._throttle_secs:
            ago = time.time() - self._began
            return f"due to throttle secs ({self._throttle_secs} secs), the last began {ago:.0f} secs ago"
        return None

    def begin_evaluation(self, step: int) -> None:
        """Records that an evaluation begins."""
        self._step, self._began, self._checkpoints = step, time.time(), 0
