"""What a hook is: TensorFlow's own class, and our extension of it that knows when it is needed."""

from __future__ import annotations

import math
import sys
from typing import Any

import tensorflow as tf

SessionRunHook: Any = tf.compat.v1.train.SessionRunHook
SessionRunArgs: Any = tf.compat.v1.train.SessionRunArgs
SessionRunValues: Any = tf.compat.v1.train.SessionRunValues

NEVER = sys.maxsize
"""The answer of a `next_look` that needs no step."""


class ScheduledHook(SessionRunHook):
    """A hook that is called only on the steps it asks for.

    An ordinary hook's `before_run` and `after_run` are called on every step, which forces the engine to come back to
    Python for each. A scheduled hook says which step it needs to see next; between, it costs nothing, and the engine
    runs all the steps up to there in one call.

    Where steps are fused, `before_run` may ask only for what `looks_at` named, and feed nothing but placeholders.

    Attributes:
        in_bulk: the hook may be told of its steps a little late, several in a row, each with its own values. For hooks
            that only record: while one is told of step 7, the session may be at step 50 already.
        sees_nan: `after_run` is called, with no results, also after a step whose loss is NaN.
    """

    in_bulk: bool = False
    sees_nan: bool = False

    def next_look(self, global_step: int) -> int:
        """The first global step after `global_step` whose run this hook must see; `NEVER` for none.

        A step is told by the counter's value once it has run: the first step of a fresh model is 1.
        """
        return global_step + 1

    def next_look_seconds(self) -> float:
        """In how many seconds this hook must see a step, whichever it is; for a cadence in time."""
        return math.inf

    def looks_at(self) -> Any:
        """Whatever `before_run` may ever ask for, as a structure of tensors; called after `begin`, while the graph can
        still grow."""
        return None

    def passed(self, steps: int) -> None:
        """So many steps have run without this hook; for hooks that count."""

    def counter_moves_by(self, stride: int) -> None:
        """Told when it is found out that a step moves the global step by other than one."""

    def close(self) -> None:
        """Called once when the run is over, also after an error, where `end` is not."""
