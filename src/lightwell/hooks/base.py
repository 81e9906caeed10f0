"""What a hook is: TensorFlow's own class, and our extension of it that knows when it is needed."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

SessionRunHook: Any = tf.compat.v1.train.SessionRunHook
SessionRunArgs: Any = tf.compat.v1.train.SessionRunArgs
SessionRunValues: Any = tf.compat.v1.train.SessionRunValues


class ScheduledHook(SessionRunHook):
    """A hook that is called only on the steps it asks for.

    An ordinary hook's `before_run` and `after_run` are called on every step, which forces the engine to come back to
    Python for each. A scheduled hook says which step it needs to see next; between, it costs nothing.
    """

    def next_look(self, global_step: int) -> int:
        """The first global step after `global_step` whose run this hook must see.

        A step is told by the counter's value once it has run: the first step of a fresh model is 1.
        """
        return global_step + 1

    def close(self) -> None:
        """Called once when the run is over, also after an error, where `end` is not."""
