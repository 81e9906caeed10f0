"""Writes the summaries that `model_fn` declared, for TensorBoard: at the first step, then at regular steps."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.run import events
from lightwell.run.hooks.base import ScheduledHook, SessionRunArgs


class SaveSummaries(ScheduledHook):
    """Writes `scaffold.summary_op` every `every_steps` steps."""

    judges_each_step = True

    def __init__(self, every_steps: int, directory: str, scaffold: Any) -> None:
        self._every = int(every_steps)
        self._directory = directory
        self._scaffold = scaffold
        self._last: int | None = None
        self._expected = 0  # the count that the next step is taken to lead to, where only the step itself tells

    def begin(self) -> None:
        """Opens the event file, while the graph that a new one gets is the model's alone."""
        events.open_early(self._directory)

    def next_look(self, count: int) -> int:
        """The first step, then every `every_steps` steps."""
        if self._last is None:
            return count + 1
        # TensorFlow's own decides a step ahead, by what the counter read before the last one.
        late = 0 if self._last == count else max(self.stride, 1) - 1
        return max(count + 1, self.after_stale(self._last + self._every) + late)

    def looks_at(self) -> Any:
        """The merged summaries, created here if they do not exist yet: `Scaffold.finalize` uses them."""
        return summary_of(self._scaffold)

    def before_run(self, run_context: Any) -> Any:
        """Fetches the merged summaries, if the model has any."""
        return (
            None
            if self._scaffold.summary_op is None or not self._is_due()
            else SessionRunArgs(self._scaffold.summary_op)
        )

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes them."""
        step = run_context.count
        if not self._is_due():
            self._expected = run_context.count_before + 2  # as TensorFlow's own: one beyond what it takes this one for
            return
        self._expected = step + 1
        if self._last is None:
            events.mark_start(self._directory, step)
        self._last = step
        if run_values.results is not None:
            events.write_summary(self._directory, run_values.results, step)

    def _is_due(self) -> bool:
        """Whether to write this step; where the stride is known, the hook is called for such steps only."""
        return bool(self.stride) or self._last is None or self._expected >= self._last + self._every

    def end(self, session: Any) -> None:
        """Makes sure that a reader sees all of it."""
        events.flush(self._directory)


def summary_of(scaffold: Any) -> Any:
    """The summary that a scaffold writes: its own, else all of the graph, merged; None without any."""
    if scaffold.summary_op is not None:
        return scaffold.summary_op
    return tf.compat.v1.train.Scaffold.get_or_default(
        "summary_op", tf.compat.v1.GraphKeys.SUMMARY_OP, tf.compat.v1.summary.merge_all
    )
