"""A checkpoint listener with work of its own: it says at which steps it needs a checkpoint, and what it is doing."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from lightwell.hooks.base import NEVER

_Listener: Any = tf.compat.v1.train.CheckpointSaverListener


class CheckpointWork(_Listener):
    """Told of checkpoints like any `CheckpointSaverListener`, and asked two things besides.

    Only the default saver of a training asks: a `CheckpointSaverHook` of the user's own saves when it wants to.
    """

    def next_save(self, step: int) -> int:
        """The first global step after `step` at which it needs a checkpoint; `NEVER` if those that come will do."""
        return NEVER

    def progress_note(self) -> str:
        """What it is doing, or what came of it, for the second line of the progress display; empty for nothing."""
        return ""
