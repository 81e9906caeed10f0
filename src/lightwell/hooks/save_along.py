"""Takes part in the checkpoints of the chief, where they hold the mean of what each process has."""

from __future__ import annotations

import os
import re
from typing import Any

import tensorflow as tf

from lightwell.hooks.base import ScheduledHook
from lightwell.keys import CHECKPOINT_PREFIX
from lightwell.own_files import TOKEN, folders_like, new_folder, remove_tree


class SaveAlong(ScheduledHook):
    """Saves whenever the chief does, into a new directory of its own, of which it leaves nothing behind.

    Statistics that each process gathers by itself (batch normalization) are averaged while they are saved: all must
    save at the same steps.

    Args:
        directory: the model's.
        index: the number of this worker.
        scaffold: holds the saver.
        save_steps: steps between two checkpoints.
    """

    def __init__(self, directory: str, index: int, scaffold: Any, save_steps: int) -> None:
        self._directory, self._name = directory, f"tmp_worker_{index}-"
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
        for left in folders_like(self._directory, re.compile(re.escape(self._name) + TOKEN)):
            remove_tree(left)
        own = new_folder(self._directory, self._name)
        try:
            prefix = os.path.join(own, CHECKPOINT_PREFIX)
            self._scaffold.saver.save(session, prefix, step, write_meta_graph=False, write_state=False)
        finally:
            remove_tree(own)
        self._saved_step = step
