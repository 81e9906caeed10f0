"""Takes part in the checkpoints of the chief, where they hold the mean of what each process has."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from lightwell.hooks.base import ScheduledHook
from lightwell.keys import CHECKPOINT_PREFIX


class SaveAlong(ScheduledHook):
    """Saves whenever the chief does, into a directory of its own, of which it leaves nothing behind.

    Statistics that each process gathers by itself (batch normalization) are averaged while they are saved: all must
    save at the same steps.

    Args:
        directory: the model's.
        index: the number of this worker.
        scaffold: holds the saver.
        save_steps: steps between two checkpoints.
    """

    def __init__(self, directory: str, index: int, scaffold: Any, save_steps: int) -> None:
        self._directory = os.path.join(directory, f"tmp_worker_{index}")
        self._scaffold, self._every = scaffold, save_steps
        self._saved_step = -1

    def next_look(self, count: int) -> int:
        """Every one: it must miss none."""
        return count + 1

    def after_create_session(self, session: Any, coord: Any) -> None:
        """The first checkpoint."""
        self._save(session, int(session.run(tf.compat.v1.train.get_global_step())))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Those of the cadence."""
        if run_context.count >= self._saved_step + self._every:
            self._save(run_context.session, run_context.count)

    def end(self, session: Any) -> None:
        """The last one."""
        last_step = int(session.run(tf.compat.v1.train.get_global_step()))
        if last_step != self._saved_step:
            self._save(session, last_step)

    def _save(self, session: Any, step: int) -> None:
        tf.io.gfile.makedirs(self._directory)
        try:
            prefix = os.path.join(self._directory, CHECKPOINT_PREFIX)
            self._scaffold.saver.save(session, prefix, step, write_meta_graph=False, write_state=False)
        finally:
            tf.io.gfile.rmtree(self._directory)
        self._saved_step = step
