"""Saves together with the chief, where a checkpoint holds means over all processes."""

from __future__ import annotations

import os
import re
from typing import Any

import tensorflow as tf

from lightwell.base.keys import CHECKPOINT_PREFIX
from lightwell.base.safe_files import TOKEN, make_unique_folder, matching_folders, remove_tree
from lightwell.run.hooks.base import ScheduledHook


class SaveWithChief(ScheduledHook):
    """Saves whenever the chief does, into a temporary directory that is removed afterwards.

    Statistics that each process collects by itself (batch normalization) are averaged while they are saved: all must
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
        """Every step: it must miss no save of the chief."""
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
        for left in matching_folders(self._directory, re.compile(re.escape(self._name) + TOKEN)):
            remove_tree(left)
        own = make_unique_folder(self._directory, self._name)
        try:
            prefix = os.path.join(own, CHECKPOINT_PREFIX)
            self._scaffold.saver.save(session, prefix, step, write_meta_graph=False, write_state=False)
        finally:
            remove_tree(own)
        self._saved_step = step
