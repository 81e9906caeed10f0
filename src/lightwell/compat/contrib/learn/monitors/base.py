"""`BaseMonitor`, what a monitor may override, and `EveryN`, which acts in some of the steps."""

from __future__ import annotations

from typing import Any

from lightwell.errors import UsageError


class BaseMonitor:
    """Is told before and after each step of a training."""

    def __init__(self) -> None:
        self._estimator: Any = None
        self._max_steps: int | None = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether workers beside the chief run it."""
        return False

    def set_estimator(self, estimator: Any) -> None:
        """The Estimator that trains, before the graph is built."""
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Before the first step, when the graph is built."""
        self._max_steps = max_steps

    def end(self, session: Any = None) -> None:
        """After the last step."""

    def epoch_begin(self, epoch: int) -> None:
        """Is not called: an Estimator does not know epochs."""

    def epoch_end(self, epoch: int) -> None:
        """Is not called; see `epoch_begin`."""

    def step_begin(self, step: int) -> list[Any]:
        """Before step number `step`: the names of tensors to fetch with it."""
        return []

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        """After the step: whether to stop the training. `output` has what all monitors asked for."""
        return False

    def post_step(self, step: int, session: Any) -> None:
        """After all monitors were told that the step ended."""


class EveryN(BaseMonitor):
    """Acts in the first steps, in every n-th step after the last in which it acted, and in the last one.

    Override `every_n_step_begin`, `every_n_step_end` and `every_n_post_step`.

    Args:
        every_n_steps: steps between two acts.
        first_n_steps: up to which step it acts in each; none if negative.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        if every_n_steps < 1:
            raise UsageError(f"{type(self).__name__}: every_n_steps must be at least 1, got {every_n_steps}.")
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_active_step = 0
        self._last_successful_step: int | None = None
        self._acts = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Before a step in which it acts: the names of tensors to fetch."""
        return []

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> bool:
        """After a step in which it acts: whether to stop the training."""
        return False

    def every_n_post_step(self, step: int, session: Any) -> None:
        """After all monitors were told of a step in which it acts."""

    def step_begin(self, step: int) -> list[Any]:
        self._acts = step <= self._first_n_steps or step >= self._last_active_step + self._every_n_steps
        if not self._acts:
            return []
        self._last_active_step = step
        return self.every_n_step_begin(step)

    def step_end(self, step: int, output: dict[Any, Any]) -> bool:
        self._last_successful_step = step
        return self.every_n_step_end(step, output) if self._acts else False

    def post_step(self, step: int, session: Any) -> None:
        if self._acts:
            self.every_n_post_step(step, session)

    def end(self, session: Any = None) -> None:
        last = self._last_successful_step
        if last is not None and last != self._last_active_step:
            self.every_n_post_step(last, session)
