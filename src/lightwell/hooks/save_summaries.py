"""Writes the summaries that `model_fn` declared, for TensorBoard: at the first step, then each so many."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell import events
from lightwell.hooks.base import ScheduledHook, SessionRunArgs


class SaveSummaries(ScheduledHook):
    """Writes `scaffold.summary_op` every `every_steps` steps."""

    def __init__(self, every_steps: int, directory: str, scaffold: Any) -> None:
        self._every = int(every_steps)
        self._directory = directory
        self._scaffold = scaffold
        self._last: int | None = None

    def begin(self) -> None:
        """Opens the event file, while the graph that a new one gets is the model's alone."""
        events.writer(self._directory)

    def next_look(self, count: int) -> int:
        """The first step, then each so many."""
        if self._last is None:
            return count + 1
        # TensorFlow's own decides a step ahead, by what the counter read before the last one.
        late = 0 if self._last == count else max(self.stride, 1) - 1
        return max(count + 1, self.after_stale(self._last + self._every) + late)

    def looks_at(self) -> Any:
        """The merged summaries. Made here if nobody has yet: `Scaffold.finalize` finds them."""
        if self._scaffold.summary_op is not None:
            return self._scaffold.summary_op
        return tf.compat.v1.train.Scaffold.get_or_default(
            "summary_op", tf.compat.v1.GraphKeys.SUMMARY_OP, tf.compat.v1.summary.merge_all
        )

    def before_run(self, run_context: Any) -> Any:
        """Asks for the merged summaries, if the model has any."""
        return None if self._scaffold.summary_op is None else SessionRunArgs(self._scaffold.summary_op)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Writes them."""
        step = run_context.count
        if self._last is None:
            events.mark_start(self._directory, step)
        self._last = step
        if run_values.results is not None:
            events.write_summary(self._directory, run_values.results, step)

    def end(self, session: Any) -> None:
        """Makes sure that a reader sees all of it."""
        events.flush(self._directory)
