"""`CheckpointWork`: a checkpoint listener that requests checkpoints and reports its progress."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.run.hooks.base import NEVER

_Listener: Any = tf.compat.v1.train.CheckpointSaverListener


class CheckpointWork(_Listener):
    """A `CheckpointSaverListener` that says when it needs a checkpoint, and what it is doing.

    Only the default saver of a training uses that: a `CheckpointSaverHook` of the user saves on its own cadence.
    """

    def next_save(self, step: int) -> int:
        """The first global step after `step` at which it needs a checkpoint; `NEVER` if those that come will do."""
        return NEVER

    def progress_note(self) -> str:
        """What it is doing, or what came of it, for the second line of the progress display; empty for nothing."""
        return ""
